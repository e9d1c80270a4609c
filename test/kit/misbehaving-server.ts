import { createServer, type Server, type Socket } from 'node:net'

/** One HTTP/1.1 request as it arrived. */
export interface SeenRequest {
  readonly method: string
  /** The request's target as it was sent; through a proxy it is a whole URL. */
  readonly target: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers one request in whatever way, in form or not, through the bare socket. */
export type Answer = (request: SeenRequest, reply: Reply) => void

/**
 * An HTTP server on a plain socket, made to break the rules: what a real API server does once a month in production,
 * a test needs now. It is the only API server in the tests that is not a real one.
 */
export class MisbehavingServer {
  readonly requests: SeenRequest[] = []
  readonly #sockets = new Set<Socket>()
  #server: Server
  #port = 0
  answer: Answer

  private constructor(answer: Answer) {
    this.answer = answer
    this.#server = this.#create()
  }

  static async start(answer: Answer): Promise<MisbehavingServer> {
    const server = new MisbehavingServer(answer)
    await server.listen()
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Requests to a path that ends so, in order. */
  seen(pathEnd: string): SeenRequest[] {
    return this.requests.filter((request) => request.path.endsWith(pathEnd))
  }

  /** Listens, again on the same port after {@link stop}. */
  async listen(): Promise<void> {
    this.#server = this.#create()
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#port, '127.0.0.1', resolve)
    })
    const address = this.#server.address()
    if (address !== null && typeof address === 'object') this.#port = address.port
  }

  /** Breaks all connections and refuses new ones. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #create(): Server {
    return createServer((socket) => {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => {})
      this.#serve(socket)
    })
  }

  #serve(socket: Socket): void {
    let received = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      for (let parsed = parseRequest(received); parsed !== undefined; parsed = parseRequest(received)) {
        received = received.subarray(parsed.length)
        this.requests.push(parsed.request)
        this.answer(parsed.request, new Reply(socket))
      }
    })
  }
}

function parseRequest(bytes: Buffer): { request: SeenRequest; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('utf8').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (bytes.length < length) return undefined
  const [method = '', target = ''] = first.split(' ')
  const url = new URL(target, 'http://server')
  const body = bytes.subarray(end + 4, length).toString('utf8')
  return { request: { method, target, path: url.pathname, query: url.searchParams, headers, body }, length }
}

/** The ways to answer. */
export class Reply {
  readonly socket: Socket
  constructor(socket: Socket) {
    this.socket = socket
  }

  /** A whole answer in form. */
  json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const body = typeof value === 'string' ? value : JSON.stringify(value)
    const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers })
    const head = [`HTTP/1.1 ${status} X`, ...lines.map(([name, text]) => `${name}: ${text}`)]
    this.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }

  /** A refusal as the API server gives it. */
  status(code: number, reason: string, message = reason, headers: Readonly<Record<string, string>> = {}): void {
    this.json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }, headers)
  }

  /** Begins a stream; lines and pieces follow. */
  stream(): this {
    this.socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    return this
  }

  /** Any bytes of the stream, cut wherever. */
  piece(bytes: string | Uint8Array): this {
    const buffer = Buffer.from(bytes)
    if (!this.socket.writable) return this
    this.socket.write(`${buffer.length.toString(16)}\r\n`)
    this.socket.write(buffer)
    this.socket.write('\r\n')
    return this
  }

  /** One event of a watch. */
  event(type: string, object: unknown): this {
    return this.piece(`${JSON.stringify({ type, object })}\n`)
  }

  /** Ends the stream in order. */
  end(): void {
    if (this.socket.writable) this.socket.write('0\r\n\r\n')
  }

  /** Breaks the connection with a TCP reset. */
  reset(): void {
    this.socket.resetAndDestroy()
  }
}
