import type { Resource } from '../api/resources.ts';
import type { Call, KubeClient, Query } from './client.ts';
import { isKubeFault, KubeError, unreachable } from './errors.ts';
import { decodeList, PROTOBUF_TYPE } from './protobuf.ts';
import { resourceName, resourcePath } from './resource-paths.ts';
import { type Message, project } from './shape.ts';

/** What to list or watch: a resource, perhaps narrowed. */
export interface Selection {
  readonly resource: Resource;
  /** @default all namespaces */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Which fields are read. @default all but the bookkeeping of kubectl and field managers */
  readonly shape?: Message;
  /** Keeps `managedFields`, which say who wrote what; not together with a shape. @default false */
  readonly withManagers?: boolean;
  /** The kind has protobuf (the core kinds do, custom resources do not). @default false */
  readonly protobuf?: boolean;
  /** Only the metadata of objects, which is a tenth of a pod. @default false */
  readonly metadataOnly?: boolean;
  /** For what is not worth a long wait. @default those of {@link Call} */
  readonly patience?: Pick<Call, 'attemptsMax' | 'silenceMsMax' | 'timeoutMs'>;
}

/**
 * Objects a page. Pages bound the memory: 500 pods of 9.4 KB are about 3 MB of protobuf, and two
 * pages at most are alive, as the next one is fetched while the last is decoded.
 */
const PAGE_SIZE = 500;
/** A list that takes longer than etcd's compaction (5 min) starts over; not for ever. */
const RESTARTS_MAX = 3;

const JSON_TYPE = 'application/json';

interface Page {
  readonly resourceVersion: string;
  readonly continueToken: string;
  readonly items: Iterable<unknown>;
}

/**
 * Lists page by page and hands over each object, projected, as it comes. The answer is the
 * resourceVersion from which a watch continues. `start` is called before the first object, and
 * again when the list has to start over: forget what came before. The signal ends it with an error.
 */
export async function listEach(
  client: KubeClient,
  selection: Selection,
  visit: { readonly start: () => void; readonly object: (object: unknown) => void },
  signal?: AbortSignal,
): Promise<string> {
  const fetch = (continueToken: string): Promise<Page> => {
    const call = listCall(selection, { limit: PAGE_SIZE, continue: continueToken });
    return fetchPage(client, { ...call, signal }, selection);
  };
  for (let restarts = 0; ; restarts += 1) {
    try {
      visit.start();
      return await listOnce(fetch, visit.object);
    } catch (error) {
      if (!isKubeFault(error, 'gone') || restarts === RESTARTS_MAX) throw error;
    }
  }
}

async function listOnce(
  fetch: (continueToken: string) => Promise<Page>,
  visit: (object: unknown) => void,
): Promise<string> {
  let pending = fetch('');
  for (;;) {
    const page = await pending;
    const more = page.continueToken !== '';
    if (more) {
      pending = fetch(page.continueToken);
      // Awaited after the decoding below, which may throw first.
      pending.catch(() => undefined);
    }
    for (const item of page.items) visit(item);
    if (!more) return page.resourceVersion;
  }
}

async function fetchPage(client: KubeClient, call: Call, selection: Selection): Promise<Page> {
  const { shape } = selection;
  const response = await client.open(call);
  const bytes = await client.bytes(call, response);
  const isProtobuf = response.header('content-type')?.startsWith(PROTOBUF_TYPE) === true;
  try {
    return isProtobuf && shape !== undefined
      ? decodeList(bytes, shape)
      : parseList(bytes, selection);
  } catch (cause) {
    throw cause instanceof KubeError ? cause : unreachable(call.asked, cause);
  }
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources */
function asMetadata(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `;as=${kind};g=meta.k8s.io;v=v1`;
}

/** What a watch's events are to be sent as: of each object as much as `metadataOnly` says. */
export function eventType({ metadataOnly }: Selection): string {
  return metadataOnly === true ? `${JSON_TYPE}${asMetadata('PartialObjectMetadata')}` : JSON_TYPE;
}

/** The request for a collection, with whatever else the query needs. */
export function listCall(selection: Selection, query: Query): Call {
  const { resource, namespace } = selection;
  const isProtobuf = selection.protobuf === true && selection.shape !== undefined;
  const form = selection.metadataOnly === true ? asMetadata('PartialObjectMetadataList') : '';
  return {
    ...selection.patience,
    asked: { verb: 'list', resource: resourceName(resource, { namespace }) },
    method: 'GET',
    path: resourcePath(resource, namespace === undefined ? {} : { namespace }),
    query: {
      fieldSelector: selection.fieldSelector,
      labelSelector: selection.labelSelector,
      ...query,
    },
    accept: isProtobuf ? `${PROTOBUF_TYPE}${form}, ${JSON_TYPE}${form}` : `${JSON_TYPE}${form}`,
  };
}

function parseList(bytes: Buffer, { shape, withManagers }: Selection): Page {
  const parsed: unknown = JSON.parse(bytes.toString('utf8'));
  // Metadata of no object at all comes with `items: null`.
  const isEmpty = text(property(parsed, 'kind')) === 'PartialObjectMetadataList';
  const items = property(parsed, 'items') ?? (isEmpty ? [] : undefined);
  const meta = property(parsed, 'metadata');
  if (!Array.isArray(items)) throw new Error('the answer is not a list');
  return {
    resourceVersion: text(property(meta, 'resourceVersion')),
    continueToken: text(property(meta, 'continue')),
    items: items.map((item: unknown) => (withManagers === true ? item : read(item, shape))),
  };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The projected object; without a shape all of it but managedFields and kubectl's own copy. */
export function read(object: unknown, shape: Message | undefined): unknown {
  if (shape !== undefined) return project(object, shape);
  const metadata = property(object, 'metadata');
  if (typeof object !== 'object' || typeof metadata !== 'object' || metadata === null) {
    return object;
  }
  const { managedFields: _, annotations, ...rest }: Record<string, unknown> = { ...metadata };
  const kept =
    typeof annotations === 'object' && annotations !== null
      ? Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED))
      : undefined;
  return { ...object, metadata: kept === undefined ? rest : { ...rest, annotations: kept } };
}

/** A property of unknown data; undefined where there is none. */
export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** A property that should be a string; empty where it is not. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The version of what a list of the selection would have now; one object is asked for. */
export async function newestVersion(
  client: KubeClient,
  selection: Selection,
  signal: AbortSignal,
): Promise<string> {
  const call = listCall({ ...selection, protobuf: false }, { limit: 1 });
  return versionOf(await client.json({ ...call, signal }));
}

/** Empty where it has none. */
export function uidOf(object: unknown): string {
  return text(property(property(object, 'metadata'), 'uid'));
}

/** Of an object or a list. */
export function versionOf(object: unknown): string {
  return text(property(property(object, 'metadata'), 'resourceVersion'));
}
