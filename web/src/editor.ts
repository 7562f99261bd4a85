// The editor for the text of a model: highlighting, and errors marked where they occur.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Fault } from './numbers';

const words = new Set(('param coord speed let point imbed kinetic potential lagrangian mass inertia gravity spring damper rayleigh force torque constraint friction nonideal ' +
  'metric law relation prefer free event stop reflect plot draw check run import include motor body joint for in at when if and or not reach impact time every method phase ' +
  'line circle trail polygon text radius colour within export').split(' '));

// Highlights the language of models and, for robot files, the basic elements of XML.
const language: StreamParser<{ xml: boolean; start: boolean; comment: boolean }> = {
  startState: () => ({ xml: false, start: true, comment: false }),
  token(stream, state) {
    if (state.start && stream.sol()) { state.xml = /^\s*</.test(stream.string); state.start = /^\s*$/.test(stream.string); }
    if (stream.eatSpace()) return null;
    if (state.xml) {
      if (state.comment || stream.match('<!--')) { // to its end, or to that of the line
        state.comment = !stream.match(/^.*?-->/);
        if (state.comment) stream.skipToEnd();
        return 'comment';
      }
      if (stream.match(/^<\/?[\w:.-]+|^\/?>/)) return 'keyword';
      if (stream.match(/^"[^"]*"|^'[^']*'/)) return 'string';
      if (stream.match(/^[\w:-]+(?==)/)) return 'propertyName';
      stream.next();
      return null;
    }
    if (stream.match(/^#.*/)) return 'comment';
    if (stream.match(/^"[^"]*"/)) return 'string';
    if (stream.match(/^\d+\.?\d*(?:[eE][-+]?\d+)?|^\.\d+/)) return 'number';
    const name = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (name) return words.has(name[0]) ? 'keyword' : stream.match(/^\s*:/, false) ? 'propertyName' : null;
    stream.next();
    return null;
  },
};

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--word)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--comment)', fontStyle: 'italic' },
  { tag: [tags.number, tags.string], color: 'var(--number)' },
  { tag: tags.propertyName, color: 'var(--name)' },
]);

export class Editor {
  private view: EditorView;
  private quiet = false;
  constructor(host: HTMLElement, changed: (text: string) => void) {
    let timer = 0;
    this.view = new EditorView({
      parent: host,
      state: EditorState.create({
        extensions: [
          lineNumbers(), history(), drawSelection(), highlightActiveLine(), lintGutter(), EditorView.lineWrapping,
          keymap.of([...defaultKeymap, ...historyKeymap]), StreamLanguage.define(language), syntaxHighlighting(colours),
          EditorView.contentAttributes.of({ 'aria-label': 'The model' }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || this.quiet) return;
            clearTimeout(timer);
            timer = window.setTimeout(() => changed(this.text()), 300);
          }),
        ],
      }),
    });
  }
  text() { return this.view.state.doc.toString(); }
  setText(text: string) {
    this.quiet = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.quiet = false;
  }
  // The place of an error; null: there is none.
  show(fault: Fault | null, path: string) {
    const doc = this.view.state.doc, here = fault && fault.line > 0 && fault.line <= doc.lines && fault.file === path;
    const list = [];
    if (fault && here) {
      const line = doc.line(fault.line), from = Math.min(line.to, line.from + Math.max(0, fault.column - 1));
      const word = /^[\w.]+|^./.exec(doc.sliceString(from, line.to))?.[0].length ?? 0;
      list.push({ from, to: Math.min(line.to, from + Math.max(1, word)), severity: 'error' as const, message: fault.text.split('\n')[0] });
    }
    this.view.dispatch(setDiagnostics(this.view.state, list));
  }
}
