import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/gateway/errors.ts'
import { deliverInput, writeInput } from '../../../src/runner/input.ts'
import { localCertificates } from '../../kit/certificates.ts'
import { type LocalGateway, OneRun, startLocalGateway } from '../../kit/local-gateway.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

const patience = { limitMillis: 5000, pauseMillis: [5, 20] as const }

function accessTo(gateway: LocalGateway) {
  return { url: gateway.url, ca: gateway.certificates.ca.cert, tokenFile: gateway.podTokenFile }
}

const notRecorded = () => new ApiError('run.not_recorded', 'pod_not_recorded', 'not yet', { retryAfterSeconds: 1 })

describe('runner input', () => {
  it('puts prompt, event and bindings where the main container looks, readable for every user', async () => {
    const runs = new OneRun({ prompt: 'Grüße\n', event: { id: 7 }, bindings: { severity: '"high"' } })
    const gateway = await startLocalGateway({ runs })
    const folder = temporaryFolder()
    const umask = process.umask(0o077)
    await deliverInput({ access: accessTo(gateway), folder, targets: [], patience }).finally(() => process.umask(umask))
    expect(readFileSync(join(folder, 'prompt.txt'), 'utf8')).toBe('Grüße\n')
    expect(readFileSync(join(folder, 'event.json'), 'utf8')).toBe('{"id":7}')
    expect(readFileSync(join(folder, 'bindings/severity.json'), 'utf8')).toBe('"high"')
    expect(statSync(join(folder, 'bindings')).mode & 0o777).toBe(0o755)
    expect(statSync(join(folder, 'bindings/severity.json')).mode & 0o777).toBe(0o644)
  })

  it('writes null as the event where there is none', async () => {
    const gateway = await startLocalGateway()
    const folder = temporaryFolder()
    await deliverInput({ access: accessTo(gateway), folder, targets: [], patience })
    expect(readFileSync(join(folder, 'event.json'), 'utf8')).toBe('null')
    expect(readdirSync(join(folder, 'bindings'))).toEqual([])
  })

  it('keeps the name of a binding from being a path', () => {
    const folder = temporaryFolder()
    const run = { name: 'r', namespace: 'n' }
    const bindings = { '../../escape': '1', '..': '2', 'plain-name_1.x': '3' }
    writeInput({ run, session: 's', step: 's', attempt: 0, prompt: '', event: null, bindings }, folder)
    const names = ['..%2F..%2Fescape.json', '...json', 'plain-name_1.x.json']
    expect(readdirSync(join(folder, 'bindings')).sort()).toEqual(names.sort())
  })

  it('comes again while the pod is not recorded or the gateway has trouble', async () => {
    const runs = new OneRun()
    const busy = new ApiError('gateway.unavailable', 'api_server_unavailable', 'later', { retryAfterSeconds: 1 })
    runs.trouble.push(notRecorded(), notRecorded(), busy, new Error('bug'))
    const gateway = await startLocalGateway({ runs })
    const folder = temporaryFolder()
    await deliverInput({ access: accessTo(gateway), folder, targets: [], patience })
    expect(existsSync(join(folder, 'prompt.txt'))).toBe(true)
    expect(runs.requests).toBe(5)
  })

  it('waits for a gateway that is not there yet', async () => {
    const certificates = await localCertificates()
    const first = await startLocalGateway({ certificates })
    await first.server.stop(0)
    const folder = temporaryFolder()
    const delivered = deliverInput({ access: accessTo(first), folder, targets: [], patience })
    await startLocalGateway({ certificates, port: first.port })
    await delivered
    expect(existsSync(join(folder, 'prompt.txt'))).toBe(true)
  })

  it('ends at once with the reason when it is refused for good', async () => {
    const runs = new OneRun()
    runs.trouble.push(new ApiError('run.fenced', 'pod_replaced', 'another pod acts for this run now'))
    const gateway = await startLocalGateway({ runs })
    const failed = deliverInput({ access: accessTo(gateway), folder: temporaryFolder(), targets: [], patience })
    const error = await failed.catch((e: unknown) => e)
    expect(error).toMatchObject({ exit: 'Refused', exitCode: 87 })
    expect((error as Error).message).toContain('another pod acts for this run now (403 run.fenced')
    expect(runs.requests).toBe(1)
  })

  it('gives up with the last cause when its time is over', async () => {
    const runs = new OneRun()
    runs.trouble.push(...Array.from({ length: 100 }, notRecorded))
    const gateway = await startLocalGateway({ runs })
    const short = { limitMillis: 60, pauseMillis: [5, 20] as const }
    const options = { access: accessTo(gateway), folder: temporaryFolder(), targets: [], patience: short }
    const error = await deliverInput(options).catch((e: unknown) => e)
    expect(error).toMatchObject({ exit: 'GatewayUnreachable', exitCode: 88 })
    expect((error as Error).message).toContain('425 run.not_recorded')
  })

  it('trusts the CA it was given and no other, and sends the token to nobody else', async () => {
    const gateway = await startLocalGateway()
    const { ca } = await localCertificates()
    const access = { ...accessTo(gateway), ca: ca.cert }
    const short = { limitMillis: 60, pauseMillis: [5, 20] as const }
    const error = await deliverInput({ access, folder: temporaryFolder(), targets: [], patience: short }).catch(
      (e: unknown) => e,
    )
    expect(error).toMatchObject({ exit: 'GatewayUnreachable' })
    expect((error as Error).message).not.toContain('pod-token')
  })

  it('reads the token anew each time, because the kubelet renews it', async () => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    const access = accessTo(gateway)
    const folder = temporaryFolder()
    writeFileSync(access.tokenFile, 'expired')
    const delivered = deliverInput({ access, folder, targets: [], patience })
    setTimeout(() => writeFileSync(access.tokenFile, 'pod-token\n'), 30)
    await delivered
    expect(runs.requests).toBe(1)
  })

  it('writes nothing for a pod whose network is not isolated', async () => {
    const gateway = await startLocalGateway()
    const open = createServer().listen(0, '127.0.0.1')
    const { port } = await new Promise<{ port: number }>((resolve) => {
      open.once('listening', () => resolve(open.address() as { port: number }))
    })
    const folder = temporaryFolder()
    const targets = [{ host: '127.0.0.1', port }]
    const isolation = { limitMillis: 100, connectMillis: 100, pauseMillis: 10 }
    const error = await deliverInput({ access: accessTo(gateway), folder, targets, patience, isolation }).catch(
      (e: unknown) => e,
    )
    open.close()
    expect(error).toMatchObject({ exit: 'NetworkNotIsolated' })
    expect(readdirSync(folder)).toEqual([])
  })
})
