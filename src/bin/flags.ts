import { type LogLevel, logLevels } from '../runtime/log.ts'

/** Values of flags and of the environment that several processes of the operator take. Errors are for people. */

/** A port number; 0 takes any free port. */
export function portOf(flag: string, text: string): number {
  const port = Number(text)
  if (text !== '' && Number.isInteger(port) && port >= 0 && port <= 65535) return port
  throw new Error(`${flag} ${text} is no port: give a number from 0 to 65535`)
}

export function logLevelOf(text: string): LogLevel {
  const level = logLevels.find((known) => known === text)
  if (level === undefined) throw new Error(`--log-level ${text} is not known: choose one of ${logLevels.join(', ')}`)
  return level
}

/** The namespace that the operator is installed in. */
export function ownNamespace(): string {
  const namespace = process.env.POD_NAMESPACE
  if (namespace === undefined || namespace === '') {
    throw new Error('the environment variable POD_NAMESPACE must name the namespace that the operator is installed in')
  }
  return namespace
}

/** A name of a namespace: an RFC 1123 label. */
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** The namespaces of a list such as `a,b`, each once. */
export function namespacesOf(flag: string, text: string | undefined): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim())
  const given = names.filter((name) => name !== '')
  const isList = text !== undefined && text !== ''
  if (isList && given.length === 0) throw new Error(`${flag} names no namespace; leave it out to serve all`)
  const wrong = given.find((name) => !label.test(name))
  if (wrong === undefined) return [...new Set(given)]
  throw new Error(
    `${flag} has ${JSON.stringify(wrong)}, which is no name of a namespace: give names such as team-a,team-b`,
  )
}
