import { describe, expect, it } from 'vitest';
import type { JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { kubernetesGroup, OBSERVED_LOG, SHADOW_FUNCTIONS } from '../../shared/contract.ts';
import { property } from '../../shared/kube/list.ts';
import { rightsObjects, rightsRules } from '../support/authorisation/rights.ts';
import { resources, synthesise } from './synthesis.ts';
import { synthesiseVariant } from './variants.ts';

const shadow = synthesiseVariant('shadow');
const whole = synthesiseVariant('defaults');

/** What reads, and what a role needs for its own log. */
const READS = /^(\w+:(Describe|Get|List)\w*|kms:Decrypt|logs:(CreateLogStream|PutLogEvents))$/;

interface Allowed {
  readonly role: string;
  readonly action: string;
  readonly resource: unknown;
}

/** Every action that a role of the stack is allowed, with each resource. */
function allowed(): readonly Allowed[] {
  const roles = [...resources(shadow, 'AWS::IAM::Role')];
  return roles.flatMap(([role, { Policies: policies }]) =>
    list(policies).flatMap((policy) =>
      list(property(property(policy, 'PolicyDocument'), 'Statement')).flatMap((statement) =>
        list(property(statement, 'Action')).flatMap((action) =>
          list(property(statement, 'Resource')).map((resource) => ({
            role,
            action: String(action),
            resource,
          })),
        ),
      ),
    ),
  );
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

describe('a stack that never acts', () => {
  it('has three functions, and none of those that act', () => {
    const functions = [...resources(shadow, 'AWS::Lambda::Function').values()];
    const names = functions.map((each) => each['FunctionName']).toSorted();
    expect(names).toEqual([...SHADOW_FUNCTIONS].map((name) => `joiner-demo-${name}`).toSorted());
  });

  it('has roles that write to the bucket, to its own bus and to nothing else', () => {
    expect(allowed().length).toBeGreaterThan(15);
    const writes = allowed().filter(({ action }) => !READS.test(action));
    const said = writes.map(({ role, action, resource }) => {
      const [name] = /^Joiner(shadow|catalog|install)/.exec(role)?.slice(1) ?? [];
      return `${name} ${action} ${JSON.stringify(resource).replaceAll(/"Joiner\w+"/g, '…')}`;
    });
    const bucket = '{"Fn::GetAtt":[…,"Arn"]}';
    const partition = '"arn:",{"Ref":"AWS::Partition"},":eks:"';
    expect(said.filter((each) => !each.includes(partition)).toSorted()).toEqual([
      `catalog s3:PutObject {"Fn::Join":["",[${bucket},"/shared/",{"Ref":"AWS::Region"},"/*/demo.json"]]}`,
      `install events:PutEvents {"Fn::GetAtt":[…,"Arn"]}`,
      `install s3:DeleteObject {"Fn::Join":["",[${bucket},"/*"]]}`,
      `shadow s3:PutObject {"Fn::Join":["",[${bucket},"/clusters/demo/shadow/*"]]}`,
    ]);
    const ofCluster = said.filter((each) => each.includes(partition));
    expect(ofCluster).toHaveLength(1);
    expect(ofCluster[0]).toMatch(/^install eks:DisassociateAccessPolicy /);
  });

  it('has a function that may get and list in the cluster, and nothing else', () => {
    const verbs = new Set(rightsRules('shadow').flatMap((rule) => rule.verbs));
    expect([...verbs].toSorted()).toEqual(['get', 'list']);
    const roles = rightsObjects('shadow').map((each) =>
      property(property(each, 'metadata'), 'name'),
    );
    expect(new Set(roles)).toEqual(new Set([kubernetesGroup('shadow')]));
    const entries = [...resources(shadow, 'AWS::EKS::AccessEntry').values()];
    expect(entries.map((each) => each['KubernetesGroups'])).toEqual(
      expect.arrayContaining([[kubernetesGroup('shadow')], [kubernetesGroup('install')]]),
    );
    expect(entries).toHaveLength(2);
    // The admin's access is lent to the installer alone.
    const lent = entries.filter((each) => each['AccessPolicies'] !== undefined);
    expect(lent.map((each) => each['KubernetesGroups'])).toEqual([[kubernetesGroup('install')]]);
  });

  it('has the rules of its clock, the one that wakes catalog, and no queue', () => {
    const rules = [...resources(shadow, 'AWS::Events::Rule').values()];
    const clock = rules.filter((each) => each['ScheduleExpression'] !== undefined);
    expect(clock.map((each) => each['ScheduleExpression']).toSorted()).toEqual([
      'rate(1 minute)',
      'rate(12 hours)',
      'rate(15 minutes)',
    ]);
    const others = rules.filter((each) => !clock.includes(each));
    expect(others.map((each) => each['EventPattern'])).toMatchObject([
      { source: ['joiner'], detail: { kind: ['installed'] } },
    ]);
    for (const type of ['AWS::SQS::Queue', 'AWS::Lambda::EventSourceMapping']) {
      expect([...resources(shadow, type).keys()]).toEqual([]);
      expect(resources(whole, type).size).toBeGreaterThan(0);
    }
  });

  it('tells the installer, which lets it go while nodes are there', () => {
    const steps = [...resources(shadow, 'Custom::JoinerInstall').values()];
    const told = steps.filter((each) => each['Shadow'] === 'true').map((each) => each['Step']);
    expect(told.toSorted()).toEqual(['apply', 'roles', 'settle']);
    const nodes = steps.find((each) => each['Step'] === 'nodes');
    expect(nodes).toMatchObject({ LeaveNodes: 'true' });
    const roles = steps.find((each) => each['Step'] === 'roles');
    expect(roles).toMatchObject({ LeaveNodes: 'false', NodeRoles: '' });
  });

  it('has alarms on what it has', () => {
    const alarms = [...resources(shadow, 'AWS::CloudWatch::Alarm').values()];
    const texts = alarms.map((each) => String(each['AlarmDescription']));
    expect(texts.map((each) => each.slice(0, 60)).toSorted()).toEqual([
      'Joiner, demo: No run of shadow has succeeded for 5 minutes: ',
      'Joiner, demo: Prices are older than 2 days, so Joiner may ch',
      'Joiner, demo: catalog has failed twice in a day, so prices a',
      'Joiner, demo: shadow uses 90 % of its memory. At 100 % Lambd',
    ]);
  });
});

describe('its dashboard', () => {
  it('shows what is recorded, in whole rows', () => {
    const [dashboard] = resources(shadow, 'AWS::CloudWatch::Dashboard').values();
    const text = JSON.stringify(dashboard?.['DashboardBody']);
    const questions = [...text.matchAll(/## ([^?]+\?)/g)].map(([, question]) => question);
    expect(questions).toEqual([
      'Is anything wrong?',
      'What would Joiner do?',
      'Do the functions run?',
    ]);
    const places = /width\W+(\d+)\W+height\W+\d+\W+x\W+\d+\W+y\W+(\d+)/g;
    const widths = [...text.matchAll(places)].map(([, width, y]) => ({ width: Number(width), y }));
    expect(widths.length).toBeGreaterThan(7);
    for (const row of Map.groupBy(widths, ({ y }) => y).values()) {
      expect(row.reduce((sum, { width }) => sum + width, 0)).toBe(24);
    }
    for (const field of Object.values(OBSERVED_LOG.fields)) expect(text).toContain(field);
  });
});

describe('a stack that acts after all', () => {
  /** Of functions and steps that the other does not have, or of an installer of another version. */
  const ONLY = /shadow|install|JoinerDashboard|Alarms/i;

  it('has what both have under the same ids, the bucket first of all', () => {
    const types = (of: typeof shadow): ReadonlyMap<string, unknown> =>
      new Map(
        Object.entries(of.template.toJSON()['Resources'] as object).map(([id, each]) => [
          id,
          property(each, 'Type'),
        ]),
      );
    const before = types(shadow);
    const after = types(whole);
    const lost = [...before].filter(([id, type]) => after.get(id) !== type && !ONLY.test(id));
    expect(lost).toEqual([]);
    const [bucket] = [...before].filter(([, type]) => type === 'AWS::S3::Bucket');
    expect(after.get(bucket?.[0] ?? '')).toBe('AWS::S3::Bucket');
    expect(resources(shadow, 'AWS::S3::Bucket')).toEqual(resources(whole, 'AWS::S3::Bucket'));
  });

  it('makes its installer the admin of the cluster again', () => {
    const fingerprint = (of: typeof shadow): unknown =>
      [...resources(of, 'Custom::JoinerInstall').values()].find(
        (each) => each['Step'] === 'apply',
      )?.['Fingerprint'];
    expect(fingerprint(shadow)).not.toBe(fingerprint(whole));
    expect(fingerprint(shadow)).toBe(fingerprint(synthesiseVariant('shadow')));
  });
});

describe('props of what a stack that never acts does not have', () => {
  const ROLE = 'arn:aws:iam::111122223333:role/nodes';
  const endpoint = 'https://prometheus.example.com/api/v1/write';
  const GIVEN: readonly Omit<JoinerProps, 'cluster'>[] = [
    { reaction: 'tick' },
    { decisionEvents: 'all' },
    { metrics: { remoteWrite: { endpoint } } },
    { queueEncryptionKey: 'arn:aws:kms:eu-west-1:111122223333:key/1' },
    { nodeRole: ROLE },
    { nodeRoles: [ROLE] },
    { nodeRole: ROLE, nodeRoleEntry: true },
    { windowsNodes: true },
    { imageParameters: ['/images/golden'] },
    { isolatedVpc: false },
    { installCrds: false },
  ];

  it.each(GIVEN)('are refused: %j', (props) => {
    const make = (): unknown => synthesise({ cluster: 'demo', shadow: true, ...props });
    for (const name of Object.keys(props)) {
      expect(make).toThrow(`${name} is given, but has no meaning where shadow is true`);
    }
    synthesise({ cluster: 'demo', ...props });
  });

  it('are refused of functions that are not there', () => {
    expect(() =>
      synthesise({ cluster: 'demo', shadow: true, memorySizes: { provision: 512 } }),
    ).toThrow('memorySizes.provision is given, but there is no provision where shadow is true');
    expect(() => synthesise({ cluster: 'demo', memorySizes: { shadow: 512 } })).toThrow(
      'memorySizes.shadow is given, but there is no shadow where shadow is not true',
    );
    synthesise({ cluster: 'demo', shadow: true, memorySizes: { shadow: 512 } });
  });

  it('its construct says that it has no queue and no node role', () => {
    const { joiner } = shadow.stack;
    expect(() => joiner.interruptionQueue).toThrow(
      'interruptionQueue: a stack with shadow: true has none',
    );
    expect(() => joiner.nodeRoleArn).toThrow('nodeRoleArn: a stack with shadow: true has none');
    expect(whole.stack.joiner.nodeRoleArn).toContain('Token');
  });
});
