import { parseQuantity } from '../../shared/core/quantity.ts';
import type { Json } from '../../shared/sim/json.ts';
import { type Note, present } from './part.ts';
import type { Identity } from './selectors.ts';

/** The part of a class that both old APIs have, in the words of v1. */

interface Device {
  readonly deviceName?: string | undefined;
  readonly rootVolume?: boolean | undefined;
  readonly ebs?: (Json & { readonly volumeSize?: string | number | undefined }) | undefined;
}

const V1_SIZE = /^[1-9][0-9]*(Gi|G|Ti|T)$/;
const GIB = 2 ** 30;

/** Sizes as v1 writes them; any other quantity comes to whole GiB, as Karpenter asked EC2 for. */
function sizeText(size: string | number): string {
  if (typeof size === 'string' && V1_SIZE.test(size)) return size;
  const bytes = parseQuantity(size, 'memory', 'up');
  return bytes === undefined ? String(size) : `${Math.max(1, Math.ceil(bytes / GIB))}Gi`;
}

export function devices(list: readonly Device[] | undefined): readonly Json[] | undefined {
  if (list === undefined || list.length === 0) return undefined;
  return list.map(({ ebs, ...rest }) => {
    const { volumeSize } = ebs ?? {};
    const size = volumeSize === undefined ? undefined : sizeText(volumeSize);
    return present({ ...rest, ebs: ebs && present({ ...ebs, volumeSize: size }) });
  });
}

const OPTIONS = [
  'httpEndpoint',
  'httpProtocolIPv6',
  'httpPutResponseHopLimit',
  'httpTokens',
] as const;

type Options = Readonly<Record<(typeof OPTIONS)[number], string | number>>;

/** What both old APIs took where nothing at all was said. */
export const UNSAID: Options = {
  httpEndpoint: 'enabled',
  httpProtocolIPv6: 'disabled',
  httpPutResponseHopLimit: 2,
  httpTokens: 'required',
};

/** What EC2 took where v1alpha1 said some of them. */
export const UNSAID_ALPHA: Options = {
  ...UNSAID,
  httpPutResponseHopLimit: 1,
  httpTokens: 'optional',
};

/** What v1 takes. */
const NOW: Options = { ...UNSAID, httpPutResponseHopLimit: 1 };

/** All four options, with a note for those whose default is another one in v1. */
export function metadataOptions(
  given: Partial<Record<(typeof OPTIONS)[number], string | number | undefined>> | undefined,
  unsaidInPart: Options,
  field: string,
): { readonly metadataOptions: Json; readonly notes: readonly Note[] } {
  const defaults = given === undefined ? UNSAID : unsaidInPart;
  const notes = OPTIONS.flatMap((name) => {
    if (given?.[name] !== undefined || defaults[name] === NOW[name]) return [];
    const message = `not given: ${defaults[name]} is written out, since v1 takes ${NOW[name]}`;
    return [{ field: `${field}.${name}`, message }];
  });
  const options = OPTIONS.map((name) => [name, given?.[name] ?? defaults[name]] as const);
  return { metadataOptions: Object.fromEntries(options), notes };
}

/** Replaced before the object is applied; `joiner simulate` takes it as --var. */
const PLACEHOLDER = `\${KARPENTER_NODE_ROLE}`;

/** v1 needs a role or an instance profile; v1alpha1 could leave it to the settings of Karpenter. */
export function identityOf(
  said: { readonly role?: string | undefined; readonly instanceProfile?: string | undefined },
  given: Identity,
  field: string,
): { readonly identity: Json; readonly notes: readonly Note[] } {
  if (said.role !== undefined || said.instanceProfile !== undefined) {
    const { role, instanceProfile } = said;
    return { identity: present({ role, instanceProfile }), notes: [] };
  }
  if (given === undefined) {
    const message = `not given, and v1 needs role or instanceProfile: role ${PLACEHOLDER} stands in its place; give --role NAME or --instance-profile NAME`;
    return { identity: { role: PLACEHOLDER }, notes: [{ field, message }] };
  }
  const { source, ...identity } = given;
  const [[name, value] = []] = Object.entries(identity);
  const message = `not given: ${name} ${value} is taken from ${source}`;
  return { identity, notes: [{ field, message }] };
}
