import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Somebody outside who is told of pauses; ends with the test. */
export interface NoticeReceiver {
  readonly url: string
  /** Bodies that were posted, with their idempotency keys. */
  readonly posts: { readonly key: unknown; readonly body: Record<string, unknown> }[]
  /** Status of the next answers, one each; afterwards 200. */
  readonly trouble: number[]
}

export async function startNoticeReceiver(): Promise<NoticeReceiver> {
  const posts: NoticeReceiver['posts'] = []
  const trouble: number[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    posts.push({ key: request.headers['idempotency-key'], body: JSON.parse(Buffer.concat(chunks).toString()) })
    const status = trouble.shift() ?? 200
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook?token=very-secret`, posts, trouble }
}
