// Every example of the tree, with its text: the gallery, and what models include.
const texts = import.meta.glob(['../../examples/**/*.zw', '../../examples/**/*.xml', '../../examples/**/*.urdf'],
  { query: '?raw', import: 'default', eager: true }) as Record<string, string>;

const tables = import.meta.glob('../../examples/**/*.csv', { query: '?raw', import: 'default', eager: true }) as Record<string, string>;
// Recordings of the tree that have the coordinates of an example.
const recorded: Record<string, string[]> = { 'double_pendulum.zw': ['tampered_swing.csv'], 'rubbing_pendulum.zw': ['rubbing_pendulum.csv'] };
export const recordingsOf = (path: string) => new Map((recorded[path] ?? []).map((name) => [name, tables['../../examples/' + name] ?? '']));

export interface Example { path: string; name: string; title: string; group: string }

export const files = new Map(Object.entries(texts).map(([path, text]) => [path.replace('../../examples/', ''), text]));

// The first sentence of the comment at its head; of robots without one the name that they give themselves.
export function titleOf(text: string): string {
  const xml = /^\s*(?:<\?[^>]*>\s*)?<!--((?:(?!-->)[\s\S])*?[A-Za-z](?:(?!-->)[\s\S])*)-->/.exec(text), zw = /^\s*#\s*(.*)/.exec(text);
  const named = /<mujoco\b[^>]*?\bmodel="([^"]*)"|<robot\b[^>]*?\bname="([^"]*)"/.exec(text);
  const words = (/^\s*</.test(text) ? xml?.[1] ?? named?.[1] ?? named?.[2] : zw?.[1]) ?? '';
  const line = words.replace(/\s+/g, ' ').trim();
  const end = /^(.+?[.:;])(\s+[A-Z]|$)/.exec(line);
  return (end ? end[1] : line).replace(/[.:;]$/, '');
}

const groupOf = (path: string) => (path.startsWith('contact/') ? 'Contact' : path.startsWith('bodies/') ? 'Bodies' : 'Equations');
export const examples: Example[] = [...files.keys()].sort().map((path) => ({
  path, title: titleOf(files.get(path)!), group: groupOf(path),
  name: path.replace(/^.*\//, '').replace(/\.\w+$/, '').replace(/_/g, ' '),
}));
