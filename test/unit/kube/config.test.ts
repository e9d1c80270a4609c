import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { KubeConfigError, loadKubeConfig } from '../../../src/kube/config.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'))
  vi.stubEnv('KUBECONFIG', undefined)
  vi.stubEnv('HOME', folder)
  vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined)
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

function write(name: string, cluster: string, current = true): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  const document = {
    clusters: [{ name: cluster, cluster: { server: `https://${cluster}.example:6443` } }],
    users: [{ name: 'u', user: { token: name } }],
    contexts: [{ name: cluster, context: { cluster, user: 'u', namespace: 'team' } }],
    ...(current ? { 'current-context': cluster } : {}),
  }
  writeFileSync(path, JSON.stringify(document))
  return path
}

function message(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof KubeConfigError) return error.message
    throw error
  }
  throw new Error('no error')
}

describe('where the API server is looked for', () => {
  test('the given file, before all else', () => {
    write('.kube/config', 'home')
    vi.stubEnv('KUBECONFIG', write('env', 'env'))
    const config = loadKubeConfig({ kubeconfig: write('given', 'given') })
    expect(config.getCurrentCluster()?.server).toBe('https://given.example:6443')
  })

  test('KUBECONFIG, before the home folder', () => {
    write('.kube/config', 'home')
    vi.stubEnv('KUBECONFIG', write('env', 'env'))
    expect(loadKubeConfig().getCurrentCluster()?.name).toBe('env')
  })

  test('several files in KUBECONFIG: the first to name something wins, absent ones are skipped', () => {
    const paths = [join(folder, 'absent'), write('one', 'one', false), write('two', 'two')]
    vi.stubEnv('KUBECONFIG', paths.join(':'))
    const config = loadKubeConfig()
    expect(config.getCurrentContext()).toBe('two')
    expect(config.getCurrentUser()?.token).toBe('one')
    expect(loadKubeConfig({ context: 'one' }).getCurrentCluster()?.name).toBe('one')
  })

  test('~/.kube/config', () => {
    write('.kube/config', 'home')
    const config = loadKubeConfig()
    expect(config.getCurrentCluster()?.name).toBe('home')
    expect(config.getContextObject('home')?.namespace).toBe('team')
  })

  test('the service account of the pod', () => {
    const account = join(folder, 'var/run/secrets/kubernetes.io/serviceaccount')
    mkdirSync(account, { recursive: true })
    writeFileSync(join(account, 'token'), 'abc\n')
    writeFileSync(join(account, 'namespace'), 'here')
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00::1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', '443')
    const config = loadKubeConfig({ root: folder })
    expect(config.getCurrentCluster()?.server).toBe('https://[fd00::1]:443')
    expect(config.getContextObject(config.getCurrentContext())?.namespace).toBe('here')
  })
})

describe('one clear error', () => {
  test('nothing anywhere: it names what was looked for', () => {
    const text = message(() => loadKubeConfig({ root: folder }))
    expect(text).toContain('KUBECONFIG is not set')
    expect(text).toContain(join(folder, '.kube/config'))
    expect(text).toContain('not a pod')
  })

  test.each<[string, () => unknown, string]>([
    ['a given file that is absent', () => loadKubeConfig({ kubeconfig: '/absent' }), '/absent, which does not exist'],
    ['a context that is absent', () => loadKubeConfig({ context: 'x' }), 'no context x; it has: home'],
  ])('%s', (_title, run, expected) => {
    write('.kube/config', 'home')
    expect(message(run)).toContain(expected)
  })

  test('no current context', () => {
    const path = write('config', 'only', false)
    expect(message(() => loadKubeConfig({ kubeconfig: path }))).toContain('choose one (it has: only)')
  })

  test('no YAML', () => {
    const path = join(folder, 'config')
    writeFileSync(path, 'a: [')
    expect(message(() => loadKubeConfig({ kubeconfig: path }))).toContain(`cannot read the kubeconfig ${path}: `)
  })

  test('an empty file', () => {
    const path = join(folder, 'config')
    writeFileSync(path, '')
    expect(message(() => loadKubeConfig({ kubeconfig: path }))).toContain('kubeconfig')
  })
})
