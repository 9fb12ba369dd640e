import * as z from 'zod';
import { parseDurationMs } from '../../core/duration.ts';
import {
  CAPACITY_TYPE,
  NODE_CLASS,
  NODE_POOL,
  normalizeLabelKey,
  WELL_KNOWN_LABELS,
} from '../../core/model/labels.ts';
import type { DurationOrNever } from '../../core/model/provisioning.ts';
import type { RequirementExpression } from '../../core/model/requirement.ts';
import { OPERATORS } from '../../core/model/requirement.ts';
import type { Resources } from '../../core/model/resources.ts';
import { TAINT_EFFECTS, type Taint } from '../../core/model/taint.ts';
import { parseResources } from '../../core/quantity.ts';
import { type Rule, withRules } from './rule.ts';

/** The JSON Schema that stands for a zod schema in the CRD where zod's own conversion would not do. */
export const STRUCTURAL = 'x-structural';

/** A qualified name as the CRDs check it: an optional DNS prefix, then a name, of any length. */
export const QUALIFIED_NAME =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const PREFIX_MAX = 253;
const NAME_MAX = 63;

/**
 * Why nodes cannot have a label of that key, though the CRDs take it as Karpenter's do: the lengths
 * are found out by whoever reads the object.
 */
export function labelKeyFault(key: string): string | undefined {
  return nameFault(`label key "${key}"`, key);
}

/** Why nodes cannot have an annotation of that key; the case of its letters is free. */
export function annotationKeyFault(key: string): string | undefined {
  return nameFault(`annotation key "${key}"`, key.toLowerCase());
}

function nameFault(what: string, qualified: string): string | undefined {
  if (!QUALIFIED_NAME.test(qualified)) return `${what} is not a qualified name`;
  const [name = '', prefix = ''] = qualified.split('/').reverse();
  if (name.length > NAME_MAX) return `${what}: its name has more than ${NAME_MAX} characters`;
  if (prefix.length <= PREFIX_MAX) return undefined;
  return `${what}: its prefix has more than ${PREFIX_MAX} characters`;
}

/** A label value, and how long it may be. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set */
export const LABEL_VALUE_MAX = 63;
export const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/**
 * The name of an object of most kinds: a DNS subdomain.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
 */
export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/, {
    message: 'must be the name of an object: letters a to z, digits, - and .',
  });

const QUANTITY =
  /^\+?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?[0-9]+))?$/;
const QUANTITY_MESSAGE = 'must be a quantity of at least 0 such as 500m, 2 or 1.5Gi';

export const quantity = z
  .union([
    z.string().regex(QUANTITY, { message: QUANTITY_MESSAGE }),
    z.number().nonnegative({ message: QUANTITY_MESSAGE }),
  ])
  .meta({
    [STRUCTURAL]: {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      minimum: 0,
      pattern: QUANTITY.source,
      'x-kubernetes-int-or-string': true,
    },
  });

export const resourceList = z.record(z.string(), quantity);

/** A duration of whole hours, minutes and seconds, such as 1h30m. */
export const duration = z
  .string()
  .regex(/^([0-9]+(s|m|h))+$/, { message: 'must be a duration such as 30m or 1h30m' });

export const durationOrNever = z
  .string()
  .regex(/^(([0-9]+(s|m|h))+|Never)$/, { message: 'must be a duration such as 720h, or Never' });

/** Of a text that {@link duration} took. */
export function durationMs(text: string): number {
  return parseDurationMs(text) ?? 0;
}

export function durationOrNeverMs(text: string): DurationOrNever {
  return text === 'Never' ? 'Never' : durationMs(text);
}

/** The part of a label key that says whose it is. */
function domainOf(key: string): string {
  return key.split('/')[0] ?? '';
}

function celList(values: Iterable<string>): string {
  return `[${[...values].map((each) => `'${each}'`).join(', ')}]`;
}

/** Keys under a domain that are refused unless they are named. */
function restrictedDomain(domain: string, allowed: readonly string[]): Rule<string> {
  const known = new Set(allowed);
  return {
    cel: `self in ${celList(allowed)} || !self.split('/')[0].endsWith('${domain}')`,
    message: `label domain "${domain}" is restricted`,
    check: (key) => known.has(key) || !domainOf(key).endsWith(domain),
  };
}

function restrictedKey(restricted: string): Rule<string> {
  return {
    cel: `self != '${restricted}'`,
    message: `label "${restricted}" is restricted`,
    check: (key) => key !== restricted,
  };
}

const AWS_LABELS = [...WELL_KNOWN_LABELS].filter((key) => key.startsWith('karpenter.k8s.aws/'));

/** An overlay cannot depend on what is only decided at launch. */
const OVERLAY_LABELS = AWS_LABELS.filter(
  (key) => !/\/(instance-tenancy|capacity-reservation-|placement-group-)/.test(key),
);

const HOSTNAME_RULE = restrictedKey('kubernetes.io/hostname');
const CORE_DOMAIN = restrictedDomain('karpenter.sh', [CAPACITY_TYPE, NODE_POOL]);
const AWS_DOMAIN = restrictedDomain('karpenter.k8s.aws', AWS_LABELS);

/** Who may use which label keys. */
export const NODE_POOL_KEYS = [CORE_DOMAIN, restrictedKey(NODE_POOL), HOSTNAME_RULE, AWS_DOMAIN];
export const NODE_CLAIM_KEYS = [
  CORE_DOMAIN,
  HOSTNAME_RULE,
  restrictedDomain('karpenter.k8s.aws', [...AWS_LABELS, NODE_CLASS]),
];
export const OVERLAY_KEYS = [
  CORE_DOMAIN,
  HOSTNAME_RULE,
  restrictedDomain('karpenter.k8s.aws', OVERLAY_LABELS),
];

/** Rules about one key, as rules about all keys of a map. */
export function eachKey(rules: readonly Rule<string>[]): Rule<Readonly<Record<string, unknown>>>[] {
  return rules.map(({ cel, message, check }) => ({
    cel: `self.all(key, ${cel.replaceAll('self', 'key')})`,
    message,
    check: (map) => check === undefined || Object.keys(map).every(check),
  }));
}

const NUMERIC = ['Gt', 'Lt', 'Gte', 'Lte'] as const;
const NUMERIC_CEL = celList(NUMERIC);

function isNumeric(operator: string): boolean {
  return NUMERIC.some((each) => each === operator);
}

interface RawRequirement {
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
  readonly minValues?: number | undefined;
}

/** The operators that need values. */
export function needsValues(operators: readonly string[], message: string): Rule<RawRequirement> {
  return {
    cel: `!(self.operator in ${celList(operators)}) || (has(self.values) && size(self.values) > 0)`,
    message,
    check: ({ operator, values = [] }) => !operators.includes(operator) || values.length > 0,
  };
}

export function singleInteger(message: string): Rule<RawRequirement> {
  return {
    cel:
      `!(self.operator in ${NUMERIC_CEL}) || ` +
      `(has(self.values) && size(self.values) == 1 && self.values[0].matches('^[0-9]+$'))`,
    message,
    check: ({ operator, values = [] }) =>
      !isNumeric(operator) || (values.length === 1 && /^[0-9]+$/.test(values[0] ?? '')),
  };
}

const ENOUGH_VALUES: Rule<RawRequirement> = {
  cel:
    "self.operator != 'In' || !has(self.minValues) || " +
    '(has(self.values) && size(self.values) >= self.minValues)',
  message:
    "requirements with 'minValues' must have at least that many values specified in the 'values' field",
  check: ({ operator, values = [], minValues }) =>
    operator !== 'In' || minValues === undefined || values.length >= minValues,
};

function key(rules: readonly Rule<string>[]) {
  const text = z.string().max(316).regex(QUALIFIED_NAME, { message: 'must be a label key' });
  return withRules(text, rules);
}

const values = z.array(z.string().max(LABEL_VALUE_MAX)).optional();

/** A requirement of a NodePool or NodeClaim. */
export function requirement(keys: readonly Rule<string>[]) {
  const shape = z.strictObject({
    key: key(keys),
    operator: z.enum(OPERATORS),
    values,
    minValues: z.int().min(1).max(50).optional(),
  });
  return withRules(shape, [
    needsValues(['In'], "requirements with operator 'In' must have a value defined"),
    singleInteger(
      "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value",
    ),
    ENOUGH_VALUES,
  ]);
}

/** A requirement of a NodeOverlay: without minValues. */
export function overlayRequirement() {
  const shape = z.strictObject({ key: key(OVERLAY_KEYS), operator: z.enum(OPERATORS), values });
  return withRules(shape, [
    needsValues(
      ['In', 'NotIn'],
      "requirements with operator 'In' or 'NotIn' must have a value defined",
    ),
    singleInteger(
      "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single non-negative integer value",
    ),
  ]);
}

/** Keys as Kubernetes now calls them. */
export function requirementExpression(
  raw: RawRequirement & {
    readonly key: string;
    readonly operator: RequirementExpression['operator'];
  },
): RequirementExpression {
  const { minValues } = raw;
  const expression = {
    key: normalizeLabelKey(raw.key),
    operator: raw.operator,
    values: raw.values ?? [],
  };
  return minValues === undefined ? expression : { ...expression, minValues };
}

export const taint = z.strictObject({
  key: z.string().min(1).regex(QUALIFIED_NAME, { message: 'must be a taint key' }),
  value: z.string().regex(LABEL_VALUE, { message: 'must be a taint value' }).optional(),
  effect: z.enum(TAINT_EFFECTS),
  timeAdded: z.iso.datetime().optional(),
});

export function taintOf({ key, value = '', effect }: z.output<typeof taint>): Taint {
  return { key, value, effect };
}

/** A text that is absent rather than empty. */
export function notEmpty(name: string): Rule<string> {
  return { cel: "self != ''", message: `${name} cannot be empty`, check: (text) => text !== '' };
}

export const nodeClassRef = z.strictObject({
  group: withRules(z.string().regex(/^[^/]*$/, { message: 'must be a group without a version' }), [
    notEmpty('group'),
  ]),
  kind: withRules(z.string(), [notEmpty('kind')]),
  name: withRules(z.string(), [notEmpty('name')]),
});

/** A resource list whose syntax the schema has checked, in base units. */
export function resourcesOf(
  list: Readonly<Record<string, string | number>> | undefined,
  rounding: 'up' | 'down',
): Resources {
  return parseResources(list ?? {}, rounding).resources;
}

/** The standard condition. */
export const condition = z.object({
  type: z.string().max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32768),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().min(0).optional(),
});

export const conditions = z.array(condition).optional();
