import type { ReadDecision } from '../../shared/api/decision-record.ts';

/** What records are to be about; of several, all. */
export interface About {
  /** `NAME` of any namespace, or `NAMESPACE/NAME`. */
  readonly pod?: string | undefined;
  /** The name of a node or of its NodeClaim. */
  readonly node?: string | undefined;
  readonly nodePool?: string | undefined;
}

const NODE_CLAIM = 'NodeClaim/';

/** Every text in a JSON value, with the name of the field that it is in. */
function* textsIn(value: unknown, field = ''): Generator<{ field: string; text: string }> {
  if (typeof value === 'string') yield { field, text: value };
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each, field);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) yield* textsIn(each, name);
  }
}

/** Picks the records that are about something, by what they name and not by their sentences. */
export class Selection {
  private readonly about: About;
  /** NodeClaims of the node, by what records have said. */
  private readonly nodeClaims = new Set<string>();

  constructor(about: About) {
    this.about = about;
    if (about.node !== undefined) this.nodeClaims.add(about.node);
  }

  /** Of later calls too, a NodeClaim counts as the node's once a record has said so. */
  of(records: readonly ReadDecision[]): readonly ReadDecision[] {
    const { node } = this.about;
    for (const { object, detail } of records) {
      if (node !== undefined && detail['node'] === node && object.startsWith(NODE_CLAIM)) {
        this.nodeClaims.add(object.slice(NODE_CLAIM.length));
      }
    }
    return records.filter((each) => this.has(each));
  }

  private has({ object, reasons, detail }: ReadDecision): boolean {
    const { pod, node, nodePool } = this.about;
    const texts = [...textsIn([object, reasons.map(({ parameters }) => parameters), detail])];
    return (
      (pod === undefined || texts.some(({ text }) => isPod(text, pod))) &&
      (node === undefined || texts.some(({ text }) => this.isNode(text, node))) &&
      (nodePool === undefined || texts.some((each) => isNodePool(each, nodePool)))
    );
  }

  private isNode(text: string, node: string): boolean {
    const name = text.startsWith(NODE_CLAIM) ? text.slice(NODE_CLAIM.length) : text;
    return this.nodeClaims.has(name) || text === `Node/${node}`;
  }
}

/** Kinds begin with a capital letter, namespaces never. */
function isPod(text: string, pod: string): boolean {
  const key = text.startsWith('Pod/') ? text.slice('Pod/'.length) : text;
  if (pod.includes('/')) return key === pod;
  return /^[a-z0-9]/.test(key) && key.endsWith(`/${pod}`) && key.split('/').length === 2;
}

function isNodePool({ field, text }: { field: string; text: string }, nodePool: string): boolean {
  return text === `NodePool/${nodePool}` || (field === 'nodePool' && text === nodePool);
}
