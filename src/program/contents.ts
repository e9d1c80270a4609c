import { type Content, inlineLimitBytes } from '../api/fields.ts'
import { type Digest, digestBytes } from '../lib/digest.ts'

/** A content as a resource holds it. */
type Held = Readonly<Content>

/**
 * Decides which texts stand in a resource and which go to the content store: they are inlined in the order they come,
 * while all of them together stay within {@link inlineLimitBytes}.
 */
export class InlineBudget {
  /** Texts that must be in the content store before the resource is written. */
  readonly put: Map<Digest, string>
  #left: number

  /** @param used bytes that are inline already */
  constructor(used = 0, put: Map<Digest, string> = new Map()) {
    this.#left = inlineLimitBytes - used
    this.put = put
  }

  /** A text as content. */
  keep(text: string): Content {
    const size = Buffer.byteLength(text)
    const digest = digestBytes(text)
    if (this.#take(size)) return { inline: text, digest, size }
    this.put.set(digest, text)
    return { digest, size }
  }

  /** A content of another resource as content of this one. What is not inline there is in the store already. */
  copy(content: Held): Content {
    if (content.inline !== undefined) return this.keep(content.inline)
    return { digest: content.digest, size: content.size }
  }

  /** A content that stands in the same resource already, once more: inline where there is room. */
  repeat(content: Held): Content {
    const { inline, digest, size } = content
    return inline !== undefined && this.#take(size) ? { inline, digest, size } : { digest, size }
  }

  #take(size: number): boolean {
    if (size > this.#left) return false
    this.#left -= size
    return true
  }
}

/** Bytes that a content takes in the resource that holds it. */
export function inlineBytes(content: Held | undefined): number {
  return content?.inline === undefined ? 0 : content.size
}
