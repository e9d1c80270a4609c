import { ApiError } from './errors.ts'

/**
 * The whole body of a request, counted while it streams in: one that is longer than `limitBytes` is refused at the first
 * byte too many, whatever its Content-Length claims.
 * @throws {ApiError} `validation.payload_too_large`
 */
export async function readBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limitBytes) throw tooLarge(limitBytes)
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > limitBytes) throw tooLarge(limitBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/**
 * The body as JSON.
 * @throws {ApiError} `validation.invalid` where it is no UTF-8 or no JSON
 */
export async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  const bytes = await readBody(request, limitBytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new ApiError('validation.invalid', 'invalid_json', 'the body is not JSON in UTF-8', { cause })
  }
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('validation.payload_too_large', 'body_too_large', `the body may have ${limitBytes} bytes at most`)
}
