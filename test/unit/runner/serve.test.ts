import { EventEmitter } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../../src/gateway/errors.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import { RunnerFailure, reportFailure } from '../../../src/runner/failure.ts'
import { mainContainerEnded, reportResult } from '../../../src/runner/serve.ts'
import { localCertificates } from '../../kit/certificates.ts'
import { type LocalGateway, OneRun, startLocalGateway } from '../../kit/local-gateway.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

const patience = { limitMillis: 5000, pauseMillis: [5, 20] as const }

function optionsFor(gateway: LocalGateway, result?: string | Buffer) {
  const folder = temporaryFolder()
  const resultFile = join(folder, 'result')
  if (result !== undefined) writeFileSync(resultFile, result)
  const inputFolder = join(folder, 'input')
  mkdirSync(inputFolder)
  writeFileSync(join(inputFolder, 'prompt.txt'), 'go')
  const access = { url: gateway.url, ca: gateway.certificates.ca.cert, tokenFile: gateway.podTokenFile }
  return { access, resultFile, inputFolder, patience }
}

describe('runner serve', () => {
  it('reports what the main container left', async () => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    await reportResult(optionsFor(gateway, '{"severity": "high"}'))
    expect(runs.recorded?.output).toMatchObject({ inline: '{"severity": "high"}', size: 20 })
  })

  it('reports an empty output where nothing was left', async () => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    await reportResult(optionsFor(gateway))
    expect(runs.recorded?.output).toEqual({ inline: '', size: 0, digest: digestBytes('') })
  })

  it('reports why an output could not be taken', async () => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    await reportResult(optionsFor(gateway, Buffer.from([0xff])))
    expect(runs.recorded?.error).toBe('output_not_utf8')
  })

  it('reports nothing where the input never came, so that an empty output is not made up', async () => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    const options = { ...optionsFor(gateway), inputFolder: temporaryFolder() }
    expect(await reportResult(options)).toBeUndefined()
    expect(runs.requests).toBe(0)
  })

  it('gets a result through a restart of the gateway, and through a lost answer', async () => {
    const runs = new OneRun()
    const certificates = await localCertificates()
    const first = await startLocalGateway({ runs, certificates })
    const options = optionsFor(first, 'once')
    await reportResult(options)
    await first.server.stop(0)
    const again = reportResult(options)
    await startLocalGateway({ runs, certificates, port: first.port })
    expect(await again).toMatchObject({ digest: digestBytes('once') })
    expect(runs.recorded?.output.inline).toBe('once')
  })

  it('does not insist when another result is on record', async () => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    await reportResult(optionsFor(gateway, 'first'))
    const error = await reportResult(optionsFor(gateway, 'second')).catch((e: unknown) => e)
    expect(error).toMatchObject({ exit: 'Refused' })
    expect(runs.recorded?.output.inline).toBe('first')
    expect(runs.requests).toBe(2)
  })

  it('says in the end that the result could not be handed over', async () => {
    const runs = new OneRun()
    const down = () => new ApiError('gateway.unavailable', 'api_server_unavailable', 'the API server is away')
    runs.trouble.push(...Array.from({ length: 100 }, down))
    const gateway = await startLocalGateway({ runs })
    const options = { ...optionsFor(gateway, 'x'), patience: { limitMillis: 60, pauseMillis: [5, 20] as const } }
    const error = await reportResult(options).catch((e: unknown) => e)
    expect(error).toMatchObject({ exit: 'GatewayUnreachable' })
    expect((error as Error).message).toContain('the API server is away')
  })

  it('begins on the first SIGTERM and ignores further ones', async () => {
    const signals = new EventEmitter()
    let ended = 0
    const waiting = mainContainerEnded(signals as unknown as NodeJS.Process).then(() => ended++)
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toBe(0)
    signals.emit('SIGTERM')
    signals.emit('SIGTERM')
    await waiting
    expect(ended).toBe(1)
  })
})

describe('a failure of the runner', () => {
  beforeEach(() => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    return () => log.mockRestore()
  })

  it('leaves its name and its cause for the kubelet, cut to what the kubelet keeps', () => {
    const file = join(temporaryFolder(), 'termination-log')
    const code = reportFailure(new RunnerFailure('NetworkNotIsolated', `reaches ${'x'.repeat(5000)}`), file)
    expect(code).toBe(86)
    expect(readFileSync(file, 'utf8')).toMatch(/^NetworkNotIsolated: reaches x+$/)
    expect(readFileSync(file, 'utf8')).toHaveLength(4096)
  })

  it('is told even where the termination log cannot be written', () => {
    expect(reportFailure(new Error('no CA'), '/nowhere/termination-log')).toBe(1)
  })
})
