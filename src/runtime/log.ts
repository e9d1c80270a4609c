import { pino } from 'pino'

/** What the code of this project needs of a log. The message is static text, the data is in the fields. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** A log that adds these fields to every line. */
  child(fields: object): Logger
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel
  /** Fields of every line, such as `{process: 'manager', version}`. */
  readonly base?: Readonly<Record<string, unknown>>
  /** Where lines go; default the standard output, synchronously. For tests. */
  readonly write?: (line: string) => void
}

/** Fields that must never reach a log, wherever a careless caller puts them (up to one level down). */
const secretFields = [
  'authorization',
  'Authorization',
  'cookie',
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'clientSecret',
  'apiKey',
  'privateKey',
  'secret',
  'data',
  'stringData',
]

/** JSON lines to the standard output. Synchronous: the lines before a crash are there, and no worker thread is needed. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: options.base ?? {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.errWithCause },
    redact: {
      paths: secretFields.flatMap((field) => [field, `*.${field}`]),
      censor: '[redacted]',
    },
  }
  if (options.write) return pino(settings, { write: options.write })
  return pino(settings, pino.destination({ dest: 1, sync: true }))
}

/** Says nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
