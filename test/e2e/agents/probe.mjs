// An agent that tries what an agent must not be able to do, and tells as JSON how far it got. Runs inside a job pod.
import { Resolver } from 'node:dns/promises'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

/** Names with `host:port` to connect to. */
const targets = JSON.parse(process.env.PROBE_TARGETS ?? '{}')
const dnsServer = process.env.PROBE_DNS ?? ''
const gateway = process.env.PROBE_GATEWAY ?? ''

const token = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/

function reaches(address) {
  const [host, port] = address.split(':')
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) })
    const end = (reached) => {
      socket.destroy()
      resolve(reached)
    }
    socket.setTimeout(2000, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

/** By the cluster's own server, whatever the pod's settings say. */
async function resolves(name) {
  const resolver = new Resolver({ timeout: 1500, tries: 1 })
  resolver.setServers([dnsServer])
  return resolver.resolve4(name).then(
    () => true,
    () => false,
  )
}

function tokenFiles(folder, found = []) {
  for (const entry of list(folder)) {
    const path = join(folder, entry)
    if (['/proc', '/sys', '/dev'].includes(path)) continue
    const stat = attempt(() => statSync(path))
    if (stat?.isDirectory()) tokenFiles(path, found)
    else if (stat?.isFile() && stat.size < 65536 && token.test(attempt(() => readFileSync(path, 'utf8')) ?? '')) {
      found.push(path)
    }
  }
  return found
}

/** Command lines of all processes that can be seen. */
function processes() {
  const ids = list('/proc').filter((name) => /^\d+$/.test(name))
  return ids.map((id) => (attempt(() => readFileSync(`/proc/${id}/cmdline`, 'utf8')) ?? '').split('\0')[0])
}

function list(folder) {
  return attempt(() => readdirSync(folder)) ?? []
}

function attempt(action) {
  try {
    return action()
  } catch {
    return undefined
  }
}

const reached = {}
await Promise.all(
  Object.entries(targets).map(async ([name, address]) => {
    reached[name] = await reaches(address)
  }),
)
// Its certificate is checked elsewhere; here it only matters that it answers, and what.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
const report = {
  reached,
  dns: await resolves('kubernetes.default.svc.cluster.local'),
  gateway: await fetch(gateway).then(
    ({ status }) => status,
    ({ cause }) => String(cause),
  ),
  uid: process.getuid(),
  tokens: [
    ...tokenFiles('/'),
    ...Object.entries(process.env).flatMap(([name, value]) => (token.test(value) ? [name] : [])),
  ],
  runnerFiles: ['/app/runner.cjs', '/var/run/graphwright', '/var/run/secrets'].filter(existsSync),
  processes: processes(),
  inputWritable: attempt(() => writeFileSync('/graphwright/input/prompt.txt', 'mine')) !== undefined,
}
writeFileSync('/graphwright/output/result', JSON.stringify(report))
