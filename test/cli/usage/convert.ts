import { NODE_CLASS, NODE_POOL } from '../manifests.ts';
import { type Row, row } from './row.ts';

const PROVISIONER = `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: old
spec:
  providerRef:
    name: default
  weight: 10
`;
const NODE_TEMPLATE = `apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata:
  name: default
spec:
  subnetSelector:
    team: web
  securityGroupSelector:
    team: web
`;
const TOO_OLD = 'apiVersion: karpenter.sh/v1alpha4\nkind: Provisioner\nmetadata: {name: a}\n';

function refused(what: string, text: string, ...says: readonly string[]): Row {
  return row(what, { 'a.yaml': text }, 'convert -f @/a.yaml', ...says);
}

function changed(from: string, line: string, to: string): string {
  return from.replace(`  ${line}`, `  ${to}`);
}

export const CONVERT: readonly Row[] = [
  row('convert without a path', {}, 'convert', 'or - for standard input'),
  row('a path that is not there', {}, 'convert -f @/none', '@/none: no such file or folder'),
  row('an unknown format', {}, 'convert @ -o xml', 'xml'),
  row('nothing to convert', { 'a.yaml': '# a\n' }, 'convert @', '@: holds no Kubernetes object'),
  row(
    'a role and an instance profile',
    { 'a.yaml': PROVISIONER },
    'convert @ --role r --instance-profile p',
    '--role r: give this or --instance-profile p, not both',
  ),
  refused(
    'an unknown field of a Provisioner',
    changed(PROVISIONER, 'weight: 10', 'wieght: 10'),
    '@/a.yaml:8: Provisioner/old: spec.wieght is not a known field (did you mean weight?); valid: annotations',
  ),
  refused(
    'a Provisioner without a class',
    changed(PROVISIONER, 'providerRef:\n    name: default', 'labels: {}'),
    "Provisioner/old: spec must have exactly one of ['provider', 'providerRef']",
  ),
  refused(
    'a Provisioner that waits and consolidates',
    `${PROVISIONER}  ttlSecondsAfterEmpty: 30\n  consolidation: {enabled: true}\n`,
    "Provisioner/old: spec must not have both of ['ttlSecondsAfterEmpty', 'consolidation.enabled']",
  ),
  refused(
    'a time that is none',
    `${PROVISIONER}  ttlSecondsUntilExpired: 720h\n`,
    '@/a.yaml:9: Provisioner/old: spec.ttlSecondsUntilExpired must be',
    '"720h"',
  ),
  refused(
    'a limit that is no quantity',
    `${PROVISIONER}  limits: {resources: {cpu: lots}}\n`,
    '@/a.yaml:9: Provisioner/old: spec.limits.resources.cpu must be a quantity',
  ),
  refused(
    'a label of another domain, under its old field',
    `${PROVISIONER}  labels: {karpenter.sh/other: a}\n`,
    '@/a.yaml:9: Provisioner/old: spec.labels label domain "karpenter.sh" is restricted',
  ),
  refused(
    'a reference to another kind',
    changed(PROVISIONER, '  name: default', '  {name: default, kind: Other}'),
    '@/a.yaml:7: Provisioner/old: spec.providerRef.kind must be AWSNodeTemplate, not "Other"',
  ),
  refused(
    'a launch template',
    `${NODE_TEMPLATE}  launchTemplate: mine\n`,
    '@/a.yaml:10: AWSNodeTemplate/default: spec.launchTemplate cannot be converted',
    '"mine"',
  ),
  refused(
    'no subnets',
    changed(NODE_TEMPLATE, 'subnetSelector:\n    team: web', 'context: a'),
    'AWSNodeTemplate/default: spec.subnetSelector is required',
  ),
  refused(
    'ids beside tags',
    changed(NODE_TEMPLATE, '  team: web', '  {team: web, aws-ids: subnet-0a}'),
    '@/a.yaml:6: AWSNodeTemplate/default: spec.subnetSelector aws-ids cannot stand with other keys',
  ),
  refused(
    'an id that is none',
    changed(NODE_TEMPLATE, '  team: web', '  aws-ids: net-0a'),
    'AWSNodeTemplate/default: spec.subnetSelector[0].id must be an id such as subnet-0abc12',
  ),
  refused(
    'Custom without images',
    `${NODE_TEMPLATE}  amiFamily: Custom\n`,
    'AWSNodeTemplate/default: spec.amiSelector must have at least 1',
  ),
  refused(
    'a version that is too old',
    TOO_OLD,
    'apiVersion cannot be converted from karpenter.sh/v1alpha4 Provisioner',
  ),
  refused(
    'an unknown field of v1beta1',
    NODE_POOL.replace('/v1\n', '/v1beta1\n'),
    'NodePool/general: spec.template.spec.expireAfter is not a known field',
  ),
  refused(
    'v1 that is not valid',
    NODE_CLASS.replace('role: node-role', 'rule: node-role'),
    '@/a.yaml:6: EC2NodeClass/default: spec.rule is not a known field',
  ),
  refused(
    'a name that is none',
    NODE_TEMPLATE.replace('name: default', 'name: Default'),
    '@/a.yaml:4: AWSNodeTemplate/Default: metadata.name must be lower case letters',
  ),
  refused(
    'an object without a version',
    `${PROVISIONER}---\nkind: ConfigMap\nmetadata: {name: a}\n`,
    '@/a.yaml:10: ConfigMap/a: apiVersion is required',
  ),
  refused(
    'two pools of one name',
    `${NODE_POOL}---\n${PROVISIONER.replace('name: old', 'name: general')}`,
    'Provisioner/general: NodePool/general is also made of @/a.yaml:1: NodePool/general',
  ),
];
