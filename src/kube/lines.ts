/** No object is this large: etcd takes 1.5 MiB. */
const longestLine = 32 * 1024 * 1024

/**
 * The complete lines of a stream, as many at a time as a chunk completed. Characters and lines may be cut anywhere
 * between chunks. What is left at the end without a line feed is half a line, and is dropped.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let carried: string[] = []
  let length = 0
  for await (const chunk of stream) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n')
    const rest = pieces.pop() ?? ''
    const lines: string[] = []
    for (const piece of pieces) {
      lines.push(carried.length === 0 ? piece : carried.join('') + piece)
      carried = []
      length = 0
    }
    carried.push(rest)
    length += rest.length
    if (length > longestLine) throw new Error(`a line of the stream is longer than ${longestLine} characters`)
    if (lines.length > 0) yield lines
  }
}
