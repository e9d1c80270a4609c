import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import { testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'

const run = promisify(execFile)
const client = testClient()

beforeAll(() => installCrds(client))
afterAll(() => client.transport.close())

/** What people see of the API: kubectl with the server's own description of itself. */
async function kubectl(...args: string[]): Promise<string> {
  const tool = new URL('../../../hack/cluster/cluster', import.meta.url).pathname
  const { stdout } = await run(tool, ['kubectl', '--kubeconfig', inject('kubeconfig'), ...args])
  return stdout
}

interface PublishedSchema {
  description?: string
  properties?: Record<string, PublishedSchema>
  items?: PublishedSchema
  additionalProperties?: PublishedSchema | boolean
}

/** Paths of all fields below `schema` that say nothing. */
function undescribed(schema: PublishedSchema, path: string): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => [
    ...(child.description ? [] : [`${path}.${name}`]),
    ...undescribed(child, `${path}.${name}`),
  ])
  const items = schema.items === undefined ? [] : undescribed(schema.items, `${path}[]`)
  const values =
    typeof schema.additionalProperties === 'object' ? undescribed(schema.additionalProperties, `${path}{}`) : []
  return [...own, ...items, ...values]
}

describe('the published schemas', () => {
  it.each(kinds.map((kind) => kind.kind))('describe every field of %s', async (kind) => {
    const schema = await eventually(async () => {
      const { components } = await client.transport.request<{
        components: { schemas: Record<string, PublishedSchema> }
      }>({ path: '/openapi/v3/apis/graphwright.dev/v1alpha1' })
      return components.schemas[`dev.graphwright.v1alpha1.${kind}`] ?? false
    })
    const { spec, status } = schema.properties ?? {}
    expect([schema.description, spec?.description, status?.description]).not.toContain(undefined)
    expect(undescribed({ properties: { spec: spec ?? {}, status: status ?? {} } }, kind)).toEqual([])
  })
})

describe('kubectl', () => {
  it('explains a field by its path', async () => {
    const text = await kubectl('explain', 'automationgraph.spec.nodes.trigger.cron')
    expect(text).toContain('schedule: five fields (minute hour day-of-month month day-of-week)')
  })

  it.each(kinds.flatMap((kind) => kind.shortNames.map((name) => [name, kind.kind] as const)))(
    'knows %s as %s',
    async (shortName, kind) => {
      expect(await kubectl('explain', shortName)).toMatch(new RegExp(`^KIND: +${kind}$`, 'm'))
    },
  )

  it('lists every kind by the category graphwright', async () => {
    const resources = await kubectl('api-resources', '--categories=graphwright', '-o', 'name')
    expect(resources.trim().split('\n').sort()).toEqual(kinds.map(({ plural }) => `${plural}.graphwright.dev`).sort())
  })
})
