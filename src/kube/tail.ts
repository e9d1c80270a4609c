/** Reads a stream to its end and returns its last `limit` bytes as text; holds no more than twice that in memory. */
export async function readTail(stream: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  let chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    size += chunk.length
    if (size > 2 * limit) {
      chunks = [Buffer.concat(chunks).subarray(-limit)]
      size = limit
    }
  }
  const bytes = Buffer.concat(chunks)
  const tail = bytes.length > limit ? bytes.subarray(bytes.length - limit) : bytes
  return tail.subarray(tail.length < bytes.length ? characterStart(tail) : 0).toString('utf8')
}

/** How many bytes at the start are the rest of a character that was cut. */
function characterStart(bytes: Uint8Array): number {
  let at = 0
  while (at < 3 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}
