import { describe, expect, it } from 'vitest'
import type { Run } from '../../../src/api/run.ts'
import type { RunApi } from '../../kit/pod-runner.ts'
import { random, seed } from '../../kit/random.ts'
import { stageForFile, tell } from './stage.ts'
import { answers } from './story.ts'

const stage = stageForFile()
const draw = random()

/** When the gateway is killed, seen from a pod that asks it something. */
const moments = [
  'before it is asked',
  'while it answers',
  'as soon as a result is recorded',
  'before its answer arrives',
] as const
type Moment = (typeof moments)[number]

type Answer = ReturnType<RunApi['self']>

/** The gateway as pods reach it, which is killed at each pod's first question for input and first report. */
class DyingGateway implements RunApi {
  readonly #moment: Moment
  readonly #known = new Set<string>()
  /** Resolves when the gateway that was killed last has a successor. */
  successor: Promise<void> = Promise.resolve()

  constructor(moment: Moment) {
    this.#moment = moment
  }

  self = (token: string): Answer => {
    return this.#ask(`input ${podOf(token)}`, () => stage().operator.api.self(token))
  }

  report = (token: string, body: unknown): Answer => {
    return this.#ask(`report ${podOf(token)}`, () => stage().operator.api.report(token, body))
  }

  async #ask(question: string, send: () => Answer): Answer {
    if (this.#known.has(question)) return send()
    this.#known.add(question)
    await this.successor
    switch (this.#moment) {
      case 'before it is asked':
        this.#kill()
        return send()
      case 'while it answers': {
        const answer = send()
        setTimeout(() => this.#kill(), draw() * 30)
        return answer
      }
      case 'as soon as a result is recorded': {
        const isRecorded = stage().witness.sees(({ object }) => {
          const { result, incarnation } = (object.kind === 'Run' && (object as Run).status) || {}
          return result !== undefined && question === `report ${incarnation?.pod}`
        })
        void isRecorded.then(() => this.#kill())
        return send()
      }
      case 'before its answer arrives':
        await send()
        this.#kill()
        throw new Error('the connection was lost')
    }
  }

  #kill(): void {
    const { gateway } = stage().operator
    this.successor = this.successor.then(() => gateway.kill()).then(() => gateway.start())
  }
}

/** Name of the pod that a token is bound to. */
function podOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return claims['kubernetes.io'].pod.name
}

describe('a gateway that is killed', () => {
  it.each(moments)(
    `%s loses nothing and records nothing twice (seed ${seed})`,
    async (moment) => {
      const { gateway } = stage().operator
      const before = gateway.kills
      const dying = new DyingGateway(moment)
      const { history } = await tell(stage(), { api: dying })
      await dying.successor
      expect(gateway.kills - before).toBeGreaterThanOrEqual(2)
      const results = history
        .filter(({ object }) => object.kind === 'Run')
        .flatMap(({ object }) => (object as Run).status?.result ?? [])
      expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(2)
      const large = results.find(({ output }) => output.size === Buffer.byteLength(answers.triage))
      expect(large?.output.inline).toBeUndefined()
    },
    120_000,
  )
})
