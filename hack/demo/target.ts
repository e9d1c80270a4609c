/** What a person may say to `make demo`. Empty texts are as good as absent: make hands on what is not set. */
export interface Wishes {
  readonly context?: string | undefined
  readonly cluster?: string | undefined
  readonly image?: string | undefined
  readonly pullSecret?: string | undefined
  readonly storageClass?: string | undefined
  readonly yes?: string | undefined
}

/** A cluster that somebody else made, by a context of the kubeconfig. */
export interface ForeignTarget {
  readonly kind: 'context'
  readonly context: string
  readonly image: ImageName | undefined
  /** Name of a Secret in the namespace of the context, to pull the image with. */
  readonly pullSecret: string | undefined
  readonly storageClass: string | undefined
  /** The question whether to go on is answered. */
  readonly isAgreed: boolean
}

/** Where the demo runs. */
export type Target = { readonly kind: 'local' } | { readonly kind: 'kind' } | ForeignTarget

/** An image as the chart takes it. */
export interface ImageName {
  readonly repository: string
  /** A tag or a digest. */
  readonly tag: string
}

/** Something that people have to mend before the demo can go on. The message says what. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** @throws {Refusal} where the wishes contradict each other */
export function targetOf(wishes: Wishes): Target {
  const { context, cluster, image, pullSecret, storageClass, yes } = withoutEmpty(wishes)
  if (cluster !== undefined && cluster !== 'kind') {
    throw new Refusal(`CLUSTER=${cluster}: only CLUSTER=kind is known. CONTEXT=name uses a cluster of your kubeconfig`)
  }
  if (context === undefined) {
    for (const [name, value] of Object.entries({
      IMAGE: image,
      PULL_SECRET: pullSecret,
      STORAGE_CLASS: storageClass,
    })) {
      if (value !== undefined) throw new Refusal(`${name} is for clusters of others: name one with CONTEXT=name`)
    }
    return { kind: cluster === 'kind' ? 'kind' : 'local' }
  }
  if (cluster !== undefined) throw new Refusal('CONTEXT and CLUSTER both name a cluster: leave one out')
  if (yes !== undefined && yes !== '1') throw new Refusal(`YES=${yes}: the answer to the question is given with YES=1`)
  const name = image === undefined ? undefined : imageName(image)
  return { kind: 'context', context, image: name, pullSecret, storageClass, isAgreed: yes === '1' }
}

function withoutEmpty(wishes: Wishes): Wishes {
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined && value !== ''))
}

/** Takes `registry.example:5000/graphwright:0.1.0` or `…@sha256:…` apart. @throws {Refusal} */
export function imageName(image: string): ImageName {
  const [, repository, tag, digest] = /^([^@\s]+?)(?::([\w][\w.-]*))?(?:@(sha256:[a-f0-9]{64}))?$/.exec(image) ?? []
  const version = digest ?? tag
  if (repository !== undefined && version !== undefined && !repository.endsWith('/'))
    return { repository, tag: version }
  throw new Refusal(`IMAGE=${image}: name the image with a tag or a digest, as registry.example/graphwright:0.1.0`)
}

/** The image as the kubelet takes it. */
export function imageText({ repository, tag }: ImageName): string {
  return tag.startsWith('sha256:') ? `${repository}@${tag}` : `${repository}:${tag}`
}
