// A link that holds the whole text: deflated, in the address behind #, which no server sees.
async function pass(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const through = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(through).arrayBuffer());
}
export async function packText(text: string): Promise<string> {
  const bytes = await pass(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  let raw = '';
  for (const b of bytes) raw += String.fromCharCode(b);
  return btoa(raw).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
// null: not such a link.
export async function unpackText(packed: string): Promise<string | null> {
  try {
    const raw = atob(packed.replace(/-/g, '+').replace(/_/g, '/'));
    return new TextDecoder().decode(await pass(Uint8Array.from(raw, (c) => c.charCodeAt(0)), new DecompressionStream('deflate-raw')));
  } catch {
    return null;
  }
}
