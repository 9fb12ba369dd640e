import { meant } from '../../shared/contract/nearest.ts';
import { BadInput } from '../bad-input.ts';

/** What can be explained. */
export type Kind = 'pod' | 'node' | 'nodeclaim';

/** What is asked about. */
export interface Asked {
  readonly kind: Kind;
  readonly name: string;
}

/** As kubectl takes them: in any case, in the plural, short, and with the group. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...(['pod', 'pods', 'po'] as const).map((each) => [each, 'pod'] as const),
  ...(['node', 'nodes', 'no'] as const).map((each) => [each, 'node'] as const),
  ...['nodeclaim', 'nodeclaims', 'nodeclaim.karpenter.sh', 'nodeclaims.karpenter.sh'].map(
    (each) => [each, 'nodeclaim'] as const,
  ),
]);

/** `pod web`, `pod/web`, `po web`, or `Pod/shop/web` as plans and events name it. */
export function askedOf(what: string, name: string | undefined): Asked {
  const at = what.indexOf('/');
  const [kindText, own] =
    name === undefined && at > 0 ? [what.slice(0, at), what.slice(at + 1)] : [what, name ?? ''];
  if (own === '') {
    throw new BadInput([`${what}: expected a kind and a name, such as pod/web`]);
  }
  const kind = KINDS.get(kindText.toLowerCase());
  if (kind !== undefined) return { kind, name: own };
  const near = meant(kindText.toLowerCase(), ['pod', 'node', 'nodeclaim']);
  throw new BadInput([`${kindText}: expected pod, node or nodeclaim${near}`]);
}
