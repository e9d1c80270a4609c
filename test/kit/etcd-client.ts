import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A key of etcd, with the revision of its last write: the resourceVersion of the object it holds. */
export interface EtcdKey {
  readonly key: string
  readonly revision: bigint
  /** Empty where only keys were asked for. */
  readonly value: string
}

export interface RangeOptions {
  readonly keysOnly?: boolean
  /** Only keys that were written after this revision. */
  readonly after?: bigint
}

interface RangeAnswer {
  readonly header: { readonly revision: string }
  readonly kvs?: readonly { readonly key: string; readonly value?: string; readonly mod_revision: string }[]
}

/** The etcd of a control plane of this machine, below the API server: what an object really is, and which was written. */
export class Etcd {
  readonly #url: string

  /** @param dir folder of the control plane */
  constructor(dir: string) {
    const { ports } = JSON.parse(readFileSync(join(dir, 'cluster.json'), 'utf8')) as { ports: { etcd: number } }
    this.#url = `http://127.0.0.1:${ports.etcd}/v3/kv`
  }

  /** The newest revision: that of the last write of anybody. */
  async revision(): Promise<bigint> {
    const answer = (await this.#post('range', { key: encode('/'), limit: 1, keys_only: true })) as RangeAnswer
    return BigInt(answer.header.revision)
  }

  /** Everything whose key begins with the prefix. */
  async range(prefix: string, options: RangeOptions = {}): Promise<EtcdKey[]> {
    // The end of the range: the first key behind all that begin with the prefix.
    const end = Buffer.from(prefix)
    end.writeUInt8((end.at(-1) ?? 0) + 1, end.length - 1)
    const { kvs = [] } = (await this.#post('range', {
      key: encode(prefix),
      range_end: end.toString('base64'),
      ...(options.keysOnly === true && { keys_only: true }),
      ...(options.after !== undefined && { min_mod_revision: String(options.after + 1n) }),
    })) as RangeAnswer
    return kvs.map(({ key, value = '', mod_revision }) => ({
      key: decode(key),
      revision: BigInt(mod_revision),
      value: decode(value),
    }))
  }

  /**
   * Writes a key. One at a time, as API servers do: their watch caches take a revision for seen with its first key, and
   * would list without the others of a transaction.
   */
  async put(key: string, value: string): Promise<void> {
    await this.#post('put', { key: encode(key), value: encode(value) })
  }

  async #post(call: string, body: object): Promise<unknown> {
    const answer = await fetch(`${this.#url}/${call}`, { method: 'POST', body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString()
}
