import { automationGraph, automationGraphSpec, type GraphError } from '../api/automation-graph.ts'
import type { GraphDocument } from '../api/graph-document.ts'
import type { BesideDocument } from '../graph/limits.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { cannotAsk } from './io.ts'
import { readYaml, type YamlDocument } from './yaml.ts'

/** A graph as a file has it. Nothing of it is checked but what stands around the document. */
export interface GraphInFile {
  readonly name: string
  readonly document: GraphDocument
  readonly beside: BesideDocument
  /** What is wrong around the document: values that YAML reads otherwise, the other fields of the resource. */
  readonly errors: readonly GraphError[]
  /** True where plans without blockers are applied at once (`applyPolicy: Automatic`). */
  readonly isAutomatic?: boolean
  /** Kind and name of what else the file has: it is applied together with the graph. */
  readonly neighbours?: readonly string[]
}

/** The graphs of a file: AutomationGraph resources, or a bare document. Other kinds are left to kubectl. */
export function readGraphs(text: string, path: string): GraphInFile[] {
  const documents = readYaml(text, path)
  const graphs = documents.flatMap((document, index) => graphOf(document, index) ?? [])
  const neighbours = documents.flatMap(({ value }) => (isJsonObject(value) ? [`${value.kind} ${nameOf(value)}`] : []))
  if (graphs.length > 0) return graphs.map((graph) => ({ ...graph, neighbours }))
  throw cannotAsk('no_graph', `${path} holds no ${automationGraph.kind}: name the file of a graph`)
}

function graphOf(document: YamlDocument, index: number): GraphInFile | undefined {
  const { value } = document
  if (!isJsonObject(value)) return undefined
  const errors = document.traps.map(
    ({ line, text, as }): GraphError => invalid(`line ${line}: kubectl reads ${text} as ${as}: put it in quotes`),
  )
  if (value.kind === undefined && value.apiVersion === undefined) {
    if (!('nodes' in value)) return undefined
    return { name: `document ${index + 1}`, document: value as unknown as GraphDocument, beside: {}, errors }
  }
  if (value.kind !== automationGraph.kind) return undefined
  return {
    name: nameOf(value) ?? `document ${index + 1}`,
    document: documentOf(value) as unknown as GraphDocument,
    beside: besideOf(value),
    isAutomatic: isJsonObject(value.spec) && value.spec.applyPolicy === 'Automatic',
    errors: [...errors, ...aroundErrors(value)],
  }
}

const beside = {
  layout: true,
  sampleEvent: true,
  applyPolicy: true,
  driftPolicy: true,
  planHistoryLimit: true,
} as const

/** The spec without what is no part of the document; unknown fields stay, to be refused by name. */
function documentOf(resource: JsonObject): JsonObject {
  const spec = isJsonObject(resource.spec) ? resource.spec : {}
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !Object.hasOwn(beside, field)))
}

function besideOf(resource: JsonObject): BesideDocument {
  const { layout, sampleEvent } = isJsonObject(resource.spec) ? resource.spec : {}
  return { layout: layout ?? undefined, sampleEvent: sampleEvent ?? undefined }
}

function aroundErrors(resource: JsonObject): GraphError[] {
  const errors: GraphError[] = []
  if (resource.apiVersion !== automationGraph.apiVersion) {
    errors.push(invalid(`apiVersion is ${String(resource.apiVersion)}: write ${automationGraph.apiVersion}`))
  }
  const name = nameOf(resource)
  if (name === undefined || !/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(name)) {
    errors.push(invalid('metadata.name must be a lower-case name of at most 63 letters, digits, dashes and dots'))
  }
  const spec = isJsonObject(resource.spec) ? resource.spec : {}
  const others = Object.fromEntries(
    Object.entries(spec).filter(([field, value]) => Object.hasOwn(beside, field) && value !== null),
  )
  const issues = automationGraphSpec.pick(beside).safeParse(others).error?.issues ?? []
  return [...errors, ...issues.map(({ path, message }) => invalid(`${path.join('.')}: ${message}`))]
}

function nameOf(resource: JsonObject): string | undefined {
  const name = isJsonObject(resource.metadata) ? resource.metadata.name : undefined
  return typeof name === 'string' ? name : undefined
}

function invalid(detail: string): GraphError {
  return { code: 'document_invalid', detail: detail.slice(0, 1024) }
}
