import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { POLICIES } from '../../infra/policies/policies.ts';
import { FUNCTION_NAMES, type FunctionName, KUBERNETES_GROUP } from '../../shared/contract.ts';
import { property, text } from '../../shared/kube/list.ts';
import { aPolicyScope } from '../builders/policies.ts';
import { allowing } from '../support/authorisation/allowed.ts';
import type { KubeAsked, RequestRecord } from '../support/authorisation/record.ts';

/**
 * What the functions have asked of AWS and of the cluster, against what they may. The record is
 * written by `JOINER_RECORD=1 npm test -- test/e2e/bundles`, which plays the bundles on a real
 * control plane and AWS over the wire; that test also checks that the record is still true.
 */
const RECORD = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden/requests.json'), 'utf8'),
) as RequestRecord;

const SCOPE = aPolicyScope({
  keyArn: 'arn:aws:kms:us-east-1:KEY',
  // The record's classes have two roles, `nodes` and `other-nodes`.
  nodeRoleArns: ['arn:aws:iam::111122223333:role/*nodes'],
});

/** Permissions that no call of the record shows, and where they are needed. */
const UNSEEN: Readonly<Partial<Record<FunctionName, Readonly<Record<string, string>>>>> = {
  lifecycle: {
    'events:PutEvents':
      'an invocation of a minute or more that ends before its work: test/e2e/health.test.ts',
  },
  interrupt: {
    'sqs:ReceiveMessage':
      'Lambda polls the queue with the role: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html',
    'sqs:DeleteMessage':
      'as above: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html',
    'sqs:GetQueueAttributes':
      'as above: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html',
  },
  nodeclass: {
    'iam:TagInstanceProfile':
      'for the tags of CreateInstanceProfile: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags_instance-profiles.html',
  },
};

describe.each(FUNCTION_NAMES)('the policy of %s', (name) => {
  const statements = POLICIES[name](SCOPE);
  const asked = RECORD[name]?.aws ?? [];

  it('lacks nothing', () => {
    expect(asked.length).toBeGreaterThan(0);
    const missing = asked.filter((each) => allowing(statements, each).length === 0);
    expect(missing).toEqual([]);
  });

  it('has no action that is not used', () => {
    const uses = asked.flatMap((each) => allowing(statements, each));
    const used = new Set(uses.map(({ sid, action }) => `${sid} ${action}`));
    const unseen = UNSEEN[name] ?? {};
    const unused = statements.flatMap(({ sid, actions }) =>
      actions.filter((action) => !used.has(`${sid} ${action}`)).map((action) => `${sid} ${action}`),
    );
    const excused = Object.keys(unseen);
    expect(unused.filter((each) => !excused.includes(each.split(' ')[1] ?? ''))).toEqual([]);
    // An excuse for what is seen after all is none.
    const seen = excused.filter((action) => asked.some((each) => each.action === action));
    expect(seen).toEqual([]);
  });

  it('has no resource that is not used', () => {
    const uses = asked.flatMap((each) => allowing(statements, each));
    const used = new Set(uses.map(({ sid, resource }) => `${sid} ${resource}`));
    const unseen = Object.keys(UNSEEN[name] ?? {});
    const unused = statements
      .filter(({ actions }) => !actions.every((action) => unseen.includes(action)))
      .flatMap(({ sid, resources }) => resources.map((resource) => `${sid} ${resource}`))
      .filter((each) => !used.has(each));
    expect(unused).toEqual([]);
  });
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  /** Undefined: the whole cluster. */
  readonly namespace: string | undefined;
}

const RBAC = parseAllDocuments(
  readFileSync(join(import.meta.dirname, '../../infra/rbac/controller.yaml'), 'utf8'),
).map((document): unknown => document.toJS());

const RULES: readonly Rule[] = RBAC.flatMap((object) => {
  const rules = property(object, 'rules');
  const namespace = text(property(property(object, 'metadata'), 'namespace')) || undefined;
  return Array.isArray(rules) ? rules.map((rule: Rule) => ({ ...rule, namespace })) : [];
});

/** The ways in which the rules allow it. */
function waysOf(asked: KubeAsked): readonly string[] {
  return RULES.flatMap((rule, at) => {
    const { apiGroups, resources, resourceNames, verbs, namespace } = rule;
    const isNamed = resourceNames === undefined || resourceNames.includes(asked.name ?? '');
    const isThere = namespace === undefined || namespace === asked.namespace;
    const isAllowed =
      apiGroups.includes(asked.group) &&
      resources.includes(asked.resource) &&
      verbs.includes(asked.verb);
    return isAllowed && isNamed && isThere
      ? [wayOf(at, asked.resource, asked.verb, asked.name)]
      : [];
  });
}

function wayOf(at: number, resource: string, verb: string, name?: string): string {
  const isNamed = RULES[at]?.resourceNames !== undefined;
  return `${at} ${verb} ${resource}${isNamed ? `/${name}` : ''}`;
}

describe('the rules of the cluster', () => {
  const members = FUNCTION_NAMES.filter((name) => name !== 'install' && name !== 'catalog');

  it('are those of one group', () => {
    expect(JSON.stringify(RBAC)).toContain(`"name":"${KUBERNETES_GROUP}"`);
    expect(RULES.length).toBeGreaterThan(10);
  });

  it.each(members)('lack nothing that %s asks for', (name) => {
    const asked = RECORD[name]?.kubernetes ?? [];
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((each) => waysOf(each).length === 0)).toEqual([]);
  });

  it('have no verb that no function uses', () => {
    const used = new Set(members.flatMap((name) => RECORD[name]?.kubernetes ?? []).flatMap(waysOf));
    const unused = RULES.flatMap(({ resources, verbs, resourceNames }, at) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          (resourceNames ?? ['']).map((name) => wayOf(at, resource, verb, name)),
        ),
      ),
    ).filter((each) => !used.has(each));
    expect(unused).toEqual([]);
  });

  it('are not asked by catalog, which never speaks to the cluster', () => {
    expect(RECORD.catalog?.kubernetes).toEqual([]);
  });
});
