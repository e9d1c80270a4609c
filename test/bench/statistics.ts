/** What is told of a set of samples. */
export interface Summary {
  readonly n: number
  readonly p50: number
  readonly p99: number
}

/** Percentiles by nearest rank: always a value that was measured. Throws without samples. */
export function summarize(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b)
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
  const [p50, p99] = [rank(0.5), rank(0.99)]
  if (p50 === undefined || p99 === undefined) throw new Error('nothing was measured')
  return { n: sorted.length, p50, p99 }
}

/** Results of one measurement and of what it is compared with, from the same minutes on the same machine. */
export interface Pairs<A, B> {
  readonly ours: readonly A[]
  readonly peer: readonly B[]
}

/**
 * Takes samples of both in turns, so that whatever else the machine does falls on both. Which goes first changes from
 * round to round; the first round warms up and does not count.
 */
export async function alternate<A, B>(
  rounds: number,
  ours: (round: number) => Promise<A>,
  peer: (round: number) => Promise<B>,
): Promise<Pairs<A, B>> {
  const samples: { ours: A[]; peer: B[] } = { ours: [], peer: [] }
  for (let round = 0; round <= rounds; round++) {
    const takeOurs = async () => samples.ours.push(await ours(round))
    const takePeer = async () => samples.peer.push(await peer(round))
    const turns = round % 2 === 0 ? [takeOurs, takePeer] : [takePeer, takeOurs]
    for (const turn of turns) await turn()
  }
  return { ours: samples.ours.slice(1), peer: samples.peer.slice(1) }
}
