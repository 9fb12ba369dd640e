import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { POLICIES } from '../../infra/policies/policies.ts';
import { rightsFiles, withFurther } from '../../infra/rights/files.ts';
import { withFollowing } from '../../infra/rights/rules.ts';
import {
  CLUSTER_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  kubernetesGroup,
} from '../../shared/contract.ts';
import { property, text } from '../../shared/kube/list.ts';
import { aPolicyScope } from '../builders/policies.ts';
import { allowing } from '../support/authorisation/allowed.ts';
import type { FurtherRequest } from '../support/authorisation/audit.ts';
import type { RequestRecord } from '../support/authorisation/record.ts';
import { allWays, rightsObjects, rightsRules, waysOf } from '../support/authorisation/rights.ts';

/**
 * What the functions have asked of AWS and of the cluster, against what they may. The record is
 * written by `JOINER_RECORD=1 npm test -- test/e2e/bundles`, which plays the bundles on a real
 * control plane and AWS over the wire; that test also checks that the record is still true.
 */
const RECORD = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden/requests.json'), 'utf8'),
) as RequestRecord;

/** What only other suites on a real control plane show, each with the suite. */
const ASKED = withFurther(
  RECORD,
  JSON.parse(
    readFileSync(join(import.meta.dirname, 'golden/further-requests.json'), 'utf8'),
  ) as readonly FurtherRequest[],
);

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

describe.each(CLUSTER_FUNCTIONS)('the rights of %s in the cluster', (name) => {
  const rules = rightsRules(name);
  const asked = ASKED[name]?.kubernetes ?? [];

  it('are those of a group of its own', () => {
    const [roles, bindings] = [/Role$/, /RoleBinding$/].map((kind) =>
      rightsObjects(name).filter((each) => kind.test(text(property(each, 'kind')))),
    );
    expect(bindings).toHaveLength(roles?.length ?? 0);
    for (const each of bindings ?? []) {
      expect(property(each, 'subjects')).toMatchObject([{ kind: 'Group', name: `joiner:${name}` }]);
      expect(property(each, 'roleRef')).toMatchObject({ name: `joiner:${name}` });
    }
  });

  it('lack nothing', () => {
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((each) => waysOf(rules, each).length === 0)).toEqual([]);
  });

  it('have nothing that is not used', () => {
    const used = new Set(withFollowing(asked).flatMap((each) => waysOf(rules, each)));
    expect(allWays(rules).filter((each) => !used.has(each))).toEqual([]);
  });

  it('are the file that npm run generate writes', () => {
    const file = join(import.meta.dirname, `../../infra/rbac/${name}.yaml`);
    expect(readFileSync(file, 'utf8')).toBe(rightsFiles(ASKED).get(`${name}.yaml`));
  });
});

it('catalog never speaks to the cluster', () => {
  expect(RECORD.catalog?.kubernetes).toEqual([]);
});

it('no file of rights is of anybody else', () => {
  const files = readdirSync(join(import.meta.dirname, '../../infra/rbac'));
  expect(files.sort()).toEqual(CLUSTER_FUNCTIONS.map((name) => `${name}.yaml`).sort());
});

it('flow schemas are of all who speak to the cluster, and of all who take Leases', () => {
  const [leases = [], ...others] = flowSchemaGroups();
  const all = others.flat();
  // Nobody waits for what is only recorded: its reads go behind everybody's.
  const urgent = CLUSTER_FUNCTIONS.filter((name) => name !== 'shadow');
  expect(all.toSorted()).toEqual(urgent.map(kubernetesGroup).toSorted());
  const takers = CLUSTER_FUNCTIONS.filter((name) =>
    RECORD[name]?.kubernetes.some(
      ({ verb, resource }) => verb === 'patch' && resource === 'leases',
    ),
  );
  expect(leases.toSorted()).toEqual(takers.map(kubernetesGroup).toSorted());
});

function flowSchemaGroups(): readonly (readonly string[])[] {
  const path = join(import.meta.dirname, '../../infra/flow-control/flow-schemas.yaml');
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    const rules: unknown = property(property(document.toJS(), 'spec'), 'rules');
    const subjects: unknown = Array.isArray(rules) ? property(rules[0], 'subjects') : [];
    return (Array.isArray(subjects) ? subjects : []).map((each: unknown) =>
      text(property(property(each, 'group'), 'name')),
    );
  });
}
