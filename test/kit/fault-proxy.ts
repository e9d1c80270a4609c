import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

/**
 * A TCP proxy that can do to connections what networks do: reset them, swallow what they carry, slow them down, refuse
 * new ones. Encrypted traffic passes as it is.
 */
export class FaultProxy {
  readonly #target: { readonly host: string; readonly port: number }
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  readonly #held: Socket[] = []
  #blackHole = false
  #holding = false
  #refusing = false
  #delayMillis = 0
  /** Connections that were made through the proxy so far. */
  connections = 0

  private constructor(target: URL) {
    this.#target = { host: target.hostname, port: Number(target.port) }
    this.#server = createServer((client) => this.#accept(client))
  }

  /** Starts a proxy to the server of an address such as `https://127.0.0.1:6443`. */
  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(target))
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** Address of the proxy, with the scheme of an API server. */
  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Breaks all present connections with a TCP reset. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
    this.#pairs.clear()
  }

  /** From now on nothing passes on present connections, and nobody is told: a cable was pulled. New ones work. */
  blackHolePresent(): void {
    for (const { client, server } of this.#pairs) {
      for (const socket of [client, server]) socket.removeAllListeners('data').on('data', () => {})
    }
  }

  /** Nothing passes on any connection, present or new, until {@link heal}. */
  blackHole(): void {
    this.#blackHole = true
    this.blackHolePresent()
  }

  /** New connections are accepted but wait, until {@link heal}. */
  hold(): void {
    this.#holding = true
  }

  /** Resets present connections and every new one, until {@link heal}. */
  refuse(): void {
    this.#refusing = true
    this.reset()
  }

  /** Everything that passes is late by so much. */
  delay(millis: number): void {
    this.#delayMillis = millis
  }

  /** Ends all faults for new connections, and resets those that were swallowed. */
  heal(): void {
    const swallowed = this.#blackHole
    this.#blackHole = false
    this.#holding = false
    this.#refusing = false
    this.#delayMillis = 0
    if (swallowed) this.reset()
    for (const client of this.#held.splice(0)) this.#accept(client)
  }

  async close(): Promise<void> {
    this.reset()
    for (const client of this.#held.splice(0)) client.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    client.on('error', () => {})
    if (this.#refusing) return void client.resetAndDestroy()
    if (this.#holding) return void this.#held.push(client)
    this.connections++
    const server = connect(this.#target)
    server.on('error', () => {})
    const pair = { client, server }
    this.#pairs.add(pair)
    this.#join(client, server, pair)
    this.#join(server, client, pair)
    if (this.#blackHole) this.blackHolePresent()
  }

  #join(from: Socket, to: Socket, pair: Pair): void {
    from.setNoDelay(true)
    let before = Promise.resolve()
    from.on('data', (chunk) => {
      const due = performance.now() + this.#delayMillis
      before = before.then(() => passAt(due, to, chunk))
    })
    from.on('end', () => void before.then(() => to.end()))
    from.on('close', () => {
      void before.then(() => to.destroy())
      this.#pairs.delete(pair)
    })
  }
}

/** Passes a chunk on at its time; whoever calls it keeps the order. */
async function passAt(due: number, to: Socket, chunk: Buffer): Promise<void> {
  const wait = due - performance.now()
  if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait))
  if (to.writable) to.write(chunk)
}
