import { parseAllDocuments } from 'yaml';
import { isJson, type Json, textAt, valueAt } from '../../../shared/sim/json.ts';
import { inFolder, joiner } from '../run.ts';

/** Answers of the AWS CLI or a ClusterConfig, each in a file: what they become, and what is said. */
export async function converted(...contents: readonly object[]) {
  const files = Object.fromEntries(
    contents.map((each, index) => [`${index}.json`, JSON.stringify(each)]),
  );
  return await inFolder(files, async (folder) => {
    const run = await joiner('convert', '-f', folder, '--role', 'r');
    const notes = run.stderr.split('\n');
    const objects = parseAllDocuments(run.stdout).flatMap((each): readonly Json[] => {
      const object: unknown = each.toJS();
      return isJson(object) ? [object] : [];
    });
    const named = (kind: string, name: string): Json | undefined =>
      objects.find((each) => each['kind'] === kind && textAt(each, 'metadata', 'name') === name);
    return {
      ...run,
      /** Messages of the field. */
      notesOf: (field: string) =>
        notes.flatMap((line) => {
          const at = line.indexOf(`: ${field}: `);
          return at < 0 ? [] : [line.slice(at + field.length + 4)];
        }),
      nodeClass: (name = 'a') => valueAt(named('EC2NodeClass', name), 'spec'),
      pool: (name = 'a') => valueAt(named('NodePool', name), 'spec'),
    };
  });
}

/** An answer with one Auto Scaling group, whose launch template is `template()`. */
export function scalingGroup(more: object): object {
  const own = {
    AutoScalingGroupName: 'a',
    MinSize: 0,
    MaxSize: 40,
    VPCZoneIdentifier: 'subnet-0a',
  };
  const LaunchTemplate = { LaunchTemplateId: 'lt-0a', Version: '1' };
  return { AutoScalingGroups: [{ ...own, LaunchTemplate, ...more }] };
}

/** A group whose types are overrides of the template. */
export function mixed(
  Overrides: readonly object[],
  more: object = {},
  distribution: object = {},
): object {
  const LaunchTemplateSpecification = { LaunchTemplateId: 'lt-0a', Version: '1' };
  return scalingGroup({
    LaunchTemplate: undefined,
    MixedInstancesPolicy: {
      LaunchTemplate: { LaunchTemplateSpecification, Overrides },
      InstancesDistribution: distribution,
    },
    ...more,
  });
}

/** An answer with one version of a launch template. */
export function template(
  data: object = {},
  id = 'lt-0a',
  name = 'workers',
  image = 'amd64',
): object {
  const LaunchTemplateData = {
    ImageId: `ami-${image}`,
    InstanceType: 'm6i.large',
    IamInstanceProfile: { Name: 'nodes' },
    SecurityGroupIds: ['sg-0a'],
    ...data,
  };
  const version = { LaunchTemplateId: id, LaunchTemplateName: name, VersionNumber: 1 };
  return { LaunchTemplateVersions: [{ ...version, DefaultVersion: true, LaunchTemplateData }] };
}

/** An answer with one managed node group. */
export function managed(more: object): object {
  const own = { nodegroupName: 'a', clusterName: 'shop', subnets: ['subnet-0a'] };
  const nodeRole = 'arn:aws:iam::111122223333:role/nodes';
  return { nodegroup: { ...own, nodeRole, amiType: 'AL2023_x86_64_STANDARD', ...more } };
}

/** A ClusterConfig with one node group. */
export function eksctl(group: object): object {
  return {
    apiVersion: 'eksctl.io/v1alpha5',
    kind: 'ClusterConfig',
    metadata: { name: 'shop', region: 'eu-west-1' },
    nodeGroups: [{ name: 'a', maxSize: 3, ...group }],
  };
}

/** Where notes have what the answers of `scalingGroup` and `mixed` contain. */
export const GROUP = 'AutoScalingGroups[0]';
export const POLICY = `${GROUP}.MixedInstancesPolicy`;
export const TEMPLATE = `${GROUP}.LaunchTemplate`;
