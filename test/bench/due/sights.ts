import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Something that the witness saw. */
export interface Sight {
  /** A firing or a Job was created, a firing settled, the watermark of an Automation moved; `gap`: a watch broke. */
  readonly what: 'firing' | 'settled' | 'watermark' | 'job' | 'gap'
  readonly name: string
  /** The minute that it belongs to, RFC 3339 in UTC. */
  readonly due: string
  /** The object's resourceVersion in this state: the revision of the write in etcd, in the order of all writes. */
  readonly version: string
  /** Unix milliseconds of its arrival. */
  readonly at: number
}

const entry = new URL('witness-process.ts', import.meta.url).pathname

/** The witness, and what it has told so far. */
export class Sights {
  readonly #child: ChildProcess
  #told: Sight[] = []

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Resolves when its watches are established. */
  static async start(kubeconfig: string, namespace: string): Promise<Sights> {
    const child = spawn(process.execPath, [entry, kubeconfig, namespace], { stdio: ['pipe', 'pipe', 'inherit'] })
    if (child.stdout === null) throw new Error('no standard output')
    const sights = new Sights(child)
    const lines = createInterface({ input: child.stdout })
    const ready = Promise.race([once(lines, 'line'), once(child, 'exit').then(ended)])
    await ready
    lines.on('line', (line) => sights.#told.push(JSON.parse(line)))
    return sights
  }

  /** What was seen of one kind, in the order of its arrival. */
  of(what: Sight['what'], due?: string): Sight[] {
    return this.#told.filter((sight) => sight.what === what && (due === undefined || sight.due === due))
  }

  forget(): void {
    this.#told = []
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }
}

function ended(): never {
  throw new Error('the witness ended before its watches were there; its errors stand above')
}
