import { createHash } from 'node:crypto'

/**
 * Names are locks: the same cause always gives the same name, so creating an object twice is answered AlreadyExists.
 * Every name here is a DNS label of at most 63 characters.
 */

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const identityLength = 26

/** 128 bits of SHA-256 over the parts, in lower-case base32: 26 characters. Parts cannot run into each other. */
export function identity(...parts: readonly (string | number)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) {
    const bytes = Buffer.from(String(part), 'utf8')
    hash.update(`${bytes.length}:`).update(bytes)
  }
  return base32(hash.digest().subarray(0, 16))
}

function base32(bytes: Uint8Array): string {
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  bits <<= BigInt(identityLength * 5 - bytes.length * 8)
  let text = ''
  for (let i = identityLength - 1; i >= 0; i--) text += alphabet[Number((bits >> BigInt(i * 5)) & 31n)]
  return text
}

/** The first `length` characters of a name, without a trailing dash or dot. */
export function cut(name: string, length: number): string {
  return name.slice(0, length).replace(/[-.]+$/, '')
}

/** Class of a trigger: an Automation has at most one trigger of each, so an edited cron cannot fire one instant twice. */
export type TriggerClass = 'schedule' | 'event' | 'manual'

/**
 * Name of the firing of one occurrence.
 * @param key the occurrence: nominal instant, event identity or {@link manualKey}
 * @param stamp what people read in the middle: `20261130t120000z` for a schedule, else the class
 */
export function firingName(
  automation: { readonly name: string; readonly uid: string },
  triggerClass: TriggerClass,
  key: string,
  stamp: string = triggerClass,
): string {
  return `${cut(automation.name, 19)}-${stamp}-${identity(automation.uid, triggerClass, key)}`
}

/** Occurrence key of a manual firing with an idempotency key: the same user and key rejoin the same firing. */
export function manualKey(user: string, idempotencyKey: string): string {
  return identity(user, idempotencyKey)
}

/** Name of a child of a firing: a Session by (firing, step, item, attempt), a Run and a Job by what is appended. */
export function childName(firingUid: string, step: string, ...coordinates: readonly number[]): string {
  return `${cut(step, 24)}-${identity(firingUid, step, ...coordinates)}`
}

/**
 * Name of a graph's n-th plan. A graph's name that has to be cut is followed by some of its hash, so that plans of two
 * graphs whose names begin alike do not stand in each other's way.
 */
export function planName(graph: string, sequence: number): string {
  const stem = graph.length <= 52 ? graph : `${cut(graph, 41)}-${identity(graph).slice(0, 10)}`
  return `${stem}-${sequence}`
}

/**
 * Name of the program with this digest. The same program of the same graph has the same name; that of another graph
 * has another one, however long a beginning the names of the two graphs share.
 */
export function programName(graph: string, digest: string): string {
  return `${cut(graph, 36)}-${identity(graph, digest)}`
}

/** Name of an Agent's n-th published version. */
export function agentVersionName(agent: string, version: number): string {
  return `${agent}-v${version}`
}
