import { normalizeLabelKey } from '../../core/model/labels.ts';
import type {
  LabelSelector,
  NodeSelectorTerm,
  PodAffinityTerm,
  TopologySpreadConstraint,
  Weighted,
} from '../../core/model/pod.ts';
import { OPERATORS, type RequirementExpression } from '../../core/model/requirement.ts';
import {
  TAINT_EFFECTS,
  type Taint,
  TOLERATION_OPERATORS,
  type Toleration,
} from '../../core/model/taint.ts';
import type { Reader } from '../read.ts';

/** Operators of node selectors in pods: without Karpenter's Gte and Lte. */
const NODE_OPERATORS = OPERATORS.filter((each) => each !== 'Gte' && each !== 'Lte');
const LABEL_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

const INTEGER = /^[+-]?\d+$/;

function expressions(
  read: Reader,
  value: unknown,
  path: string,
  operators: readonly RequirementExpression['operator'][],
  keyOf: (key: string) => string,
): readonly RequirementExpression[] {
  return read.list(value, path).map((each, index) => {
    const at = `${path}[${index}]`;
    const fields = read.fields(each, at);
    const key = keyOf(read.requiredText(fields['key'], `${at}.key`));
    const operator = read.oneOf(fields['operator'], `${at}.operator`, operators);
    if (operator === undefined && fields['operator'] === undefined) {
      read.note(`${at}.operator`, `is required: one of ${operators.join(', ')}`);
    }
    const values = read.texts(fields['values'], `${at}.values`);
    checkValues(read, operator, values, `${at}.values`);
    return { key, operator: operator ?? 'Exists', values };
  });
}

function checkValues(
  read: Reader,
  operator: RequirementExpression['operator'] | undefined,
  values: readonly string[],
  path: string,
): void {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    read.note(path, `must not be empty with operator ${operator}`);
  }
  if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1 || !INTEGER.test(values[0] ?? '')) {
      read.note(path, `must hold a single integer with operator ${operator}`);
    }
  }
}

export function nodeSelectorTerm(read: Reader, value: unknown, path: string): NodeSelectorTerm {
  const fields = read.fields(value, path);
  const at = (name: string) => `${path}.${name}`;
  const { matchExpressions, matchFields } = fields;
  return {
    matchExpressions: expressions(
      read,
      matchExpressions,
      at('matchExpressions'),
      NODE_OPERATORS,
      normalizeLabelKey,
    ),
    matchFields: expressions(read, matchFields, at('matchFields'), ['In', 'NotIn'], (key) => key),
  };
}

/** Undefined where absent: it then selects nothing. */
export function labelSelector(
  read: Reader,
  value: unknown,
  path: string,
): LabelSelector | undefined {
  if (value === undefined || value === null) return undefined;
  const fields = read.fields(value, path);
  return {
    matchLabels: read.labels(fields['matchLabels'], `${path}.matchLabels`),
    matchExpressions: expressions(
      read,
      fields['matchExpressions'],
      `${path}.matchExpressions`,
      LABEL_OPERATORS,
      (key) => key,
    ),
  };
}

export function podAffinityTerm(read: Reader, value: unknown, path: string): PodAffinityTerm {
  const fields = read.fields(value, path);
  return {
    topologyKey: read.requiredText(fields['topologyKey'], `${path}.topologyKey`),
    labelSelector: labelSelector(read, fields['labelSelector'], `${path}.labelSelector`),
    namespaces: read.texts(fields['namespaces'], `${path}.namespaces`),
    namespaceSelector: labelSelector(
      read,
      fields['namespaceSelector'],
      `${path}.namespaceSelector`,
    ),
    matchLabelKeys: read.texts(fields['matchLabelKeys'], `${path}.matchLabelKeys`),
    mismatchLabelKeys: read.texts(fields['mismatchLabelKeys'], `${path}.mismatchLabelKeys`),
  };
}

/** A list of preferences with weights between 1 and 100. */
export function weighted<Term>(
  read: Reader,
  value: unknown,
  path: string,
  termField: string,
  term: (read: Reader, value: unknown, path: string) => Term,
): readonly Weighted<Term>[] {
  return read.list(value, path).map((each, index) => {
    const at = `${path}[${index}]`;
    const fields = read.fields(each, at);
    const weight = read.integer(fields['weight'], `${at}.weight`, { least: 1, most: 100 });
    return { weight: weight ?? 1, term: term(read, fields[termField], `${at}.${termField}`) };
  });
}

const POLICIES = ['Honor', 'Ignore'] as const;

export function topologySpreadConstraint(
  read: Reader,
  value: unknown,
  path: string,
): TopologySpreadConstraint {
  const fields = read.fields(value, path);
  const at = (name: string) => `${path}.${name}`;
  const policy = (name: string) => read.oneOf(fields[name], at(name), POLICIES);
  const when = ['DoNotSchedule', 'ScheduleAnyway'] as const;
  return {
    topologyKey: read.requiredText(fields['topologyKey'], at('topologyKey')),
    maxSkew: read.integer(fields['maxSkew'], at('maxSkew'), { least: 1 }) ?? 1,
    minDomains: read.integer(fields['minDomains'], at('minDomains'), { least: 1 }),
    whenUnsatisfiable:
      read.oneOf(fields['whenUnsatisfiable'], at('whenUnsatisfiable'), when) ?? 'DoNotSchedule',
    labelSelector: labelSelector(read, fields['labelSelector'], at('labelSelector')),
    matchLabelKeys: read.texts(fields['matchLabelKeys'], at('matchLabelKeys')),
    nodeAffinityPolicy: policy('nodeAffinityPolicy') ?? 'Honor',
    nodeTaintsPolicy: policy('nodeTaintsPolicy') ?? 'Ignore',
  };
}

export function toleration(read: Reader, value: unknown, path: string): Toleration {
  const fields = read.fields(value, path);
  return {
    key: read.text(fields['key'], `${path}.key`) ?? '',
    operator: read.oneOf(fields['operator'], `${path}.operator`, TOLERATION_OPERATORS) ?? 'Equal',
    value: read.text(fields['value'], `${path}.value`) ?? '',
    effect: read.oneOf(fields['effect'], `${path}.effect`, TAINT_EFFECTS),
  };
}

export function taint(read: Reader, value: unknown, path: string): Taint {
  const fields = read.fields(value, path);
  return {
    key: read.requiredText(fields['key'], `${path}.key`),
    value: read.text(fields['value'], `${path}.value`) ?? '',
    effect: read.oneOf(fields['effect'], `${path}.effect`, TAINT_EFFECTS) ?? 'NoSchedule',
  };
}
