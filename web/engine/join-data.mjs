// The data of a WebAssembly module in few pieces: wasm-opt cuts zeros out, each cut costs a header of some bytes, and
// brotli sends zeros for less.
//
//     node join-data.mjs FILE.wasm [GAP]     pieces that are at most so many zeros apart (4096) become one
import fs from 'node:fs';

const [file, most = '4096'] = process.argv.slice(2);
const bytes = fs.readFileSync(file);
let at = 8;

function number() { // LEB128
  let value = 0;
  for (let shift = 0;; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) {
      if (shift < 28 && signed && byte & 64) {
        value |= -1 << (shift + 7);
      }
      return value;
    }
  }
}
let signed = false;

function written(value, withSign) {
  const list = [];
  for (;;) {
    const byte = value & 127;
    value = withSign ? value >> 7 : value >>> 7;
    if (withSign ? value === -(byte >> 6) : value === 0) {
      return Buffer.from([...list, byte]);
    }
    list.push(byte | 128);
  }
}

function fail(why) {
  console.error(`join-data: ${why}`);
  process.exit(1);
}

// {offset, data}, in the order of addresses
function pieces() {
  return Array.from({length: number()}, () => {
    if (bytes[at++] !== 0 || bytes[at++] !== 0x41) {
      fail('a piece of data that is not at a constant address');
    }
    signed = true;
    const offset = number();
    signed = false;
    if (bytes[at++] !== 0x0b) {
      fail('an address that is not one constant');
    }
    const size = number();
    at += size;
    return {offset, data: bytes.subarray(at - size, at)};
  }).sort((a, b) => a.offset - b.offset);
}

function joined(list) {
  const out = [];
  for (const {offset, data} of list) {
    const last = out.at(-1), gap = last ? offset - last.offset - last.data.length : Infinity;
    if (gap < 0) {
      fail('pieces of data overlap');
    } else if (gap <= Number(most)) {
      last.data = Buffer.concat([last.data, Buffer.alloc(gap), data]);
    } else {
      out.push({offset, data});
    }
  }
  return out;
}

const parts = [bytes.subarray(0, 8)];
let counted = -1;
while (at < bytes.length) {
  const begin = at, kind = bytes[at++], size = number(), end = at + size;
  if (kind === 12) { // how many there are, for instructions that this data is not for: all of it is there from the start
    counted = parts.length;
    parts.push(null);
  } else if (kind !== 11) {
    parts.push(bytes.subarray(begin, end));
  } else {
    const list = joined(pieces());
    const body = Buffer.concat([written(list.length), ...list.flatMap(({offset, data}) =>
        [Buffer.from([0, 0x41]), written(offset, true), Buffer.from([0x0b]), written(data.length), data])]);
    parts.push(Buffer.from([11]), written(body.length), body);
    if (counted >= 0) {
      const count = written(list.length);
      parts[counted] = Buffer.from([12, count.length, ...count]);
    }
  }
  at = end;
}
fs.writeFileSync(file, Buffer.concat(parts));
