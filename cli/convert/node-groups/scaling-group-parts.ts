import * as z from 'zod';
import type { Issue } from '../../../shared/api/issue.ts';
import type { Note } from '../part.ts';
import {
  commandFor,
  type TemplateData,
  type TemplateVersion,
  versionOf,
} from './launch-template.ts';

/** How an Auto Scaling group names a version of a launch template. */
export const SPECIFICATION = z.looseObject({
  LaunchTemplateId: z.string().optional(),
  LaunchTemplateName: z.string().optional(),
  Version: z.string().optional(),
});

type Specification = z.output<typeof SPECIFICATION>;

/** What of an override says which instances it launches. */
interface OwnTemplate {
  readonly LaunchTemplateSpecification?: Specification | undefined;
  readonly ImageId?: string | undefined;
}

/** The instances of a group that are launched from one template and image. */
export interface Part<Override> {
  /** Of the NodePool and the class: the group's, or after it and its template. */
  readonly name: string;
  readonly template: TemplateData;
  /** Where the group names the template. */
  readonly field: string;
  readonly overrides: readonly { readonly given: Override; readonly field: string }[];
  readonly notes: readonly Note[];
}

interface SplitGroup<Override> {
  readonly AutoScalingGroupName: string;
  readonly LaunchTemplate?: Specification | undefined;
  readonly MixedInstancesPolicy?:
    | {
        readonly LaunchTemplate: {
          readonly LaunchTemplateSpecification: Specification;
          readonly Overrides?: readonly Override[] | undefined;
        };
      }
    | undefined;
}

interface Split<Override> {
  readonly parts: readonly Part<Override>[];
  readonly issues: readonly Issue[];
}

/** The version that is named, or what is wrong with it. */
function taken(
  { LaunchTemplateId: id, LaunchTemplateName: name, Version: version }: Specification,
  templates: readonly TemplateVersion[],
  path: string,
): TemplateVersion | Issue {
  const reference = { id, name, version };
  const found = versionOf(reference, templates);
  if (found === undefined) {
    const message = `its launch template is not among the files; give also what this prints: ${commandFor(reference)}`;
    return { path, message };
  }
  const { ImageId, InstanceMarketOptions } = found.LaunchTemplateData;
  if (InstanceMarketOptions?.MarketType === 'capacity-block') {
    const message =
      'its launch template is of a capacity block: write capacityReservationSelectorTerms of an EC2NodeClass';
    return { path, message };
  }
  return ImageId === undefined ? { path, message: 'its launch template names no image' } : found;
}

function isIssue(found: TemplateVersion | Issue): found is Issue {
  return 'message' in found;
}

const LIMITS =
  'a NodePool and an EC2NodeClass of their own; the limits of all NodePools of the group together are more than its MaxSize';

/**
 * A group by the templates and images that its overrides name: each is a class of its own, since an
 * image of one architecture starts no instance of another.
 */
export function partsOfGroup<Override extends OwnTemplate>(
  { AutoScalingGroupName: name, LaunchTemplate, MixedInstancesPolicy }: SplitGroup<Override>,
  templates: readonly TemplateVersion[],
  field: string,
): Split<Override> {
  const { LaunchTemplateSpecification: base = LaunchTemplate, Overrides = [] } =
    MixedInstancesPolicy?.LaunchTemplate ?? {};
  if (base === undefined) {
    const message =
      'has no launch template: EKS nodes of launch configurations cannot be converted';
    return { parts: [], issues: [{ path: field, message }] };
  }
  const of = taken(base, templates, field);
  const issues: Issue[] = isIssue(of) ? [of] : [];
  const parts = new Map<string, Part<Override>>();
  const keyOf = (version: TemplateVersion, image: string | undefined): string =>
    [version.LaunchTemplateId, version.VersionNumber, image ?? ''].join('/');
  const ownKey = isIssue(of) ? '' : keyOf(of, undefined);
  if (!isIssue(of) && Overrides.length === 0) parts.set(ownKey, ownPart(name, of, field));
  for (const [index, given] of Overrides.entries()) {
    const at = `${field}.MixedInstancesPolicy.LaunchTemplate.Overrides[${index}]`;
    const { LaunchTemplateSpecification: own, ImageId } = given;
    const version = own === undefined ? of : taken(own, templates, at);
    if (isIssue(version)) {
      if (own !== undefined) issues.push(version);
      continue;
    }
    const image = ImageId === version.LaunchTemplateData.ImageId ? undefined : ImageId;
    const key = keyOf(version, image);
    const made = key === ownKey ? ownPart<Override>(name, version, field) : undefined;
    const known = parts.get(key) ?? made ?? otherPart<Override>(name, version, image, at);
    parts.set(key, { ...known, overrides: [...known.overrides, { given, field: at }] });
  }
  return { parts: [...parts.values()], issues };
}

function ownPart<Override>(
  name: string,
  { LaunchTemplateData: template }: TemplateVersion,
  field: string,
): Part<Override> {
  return { name, template, field: `${field}.LaunchTemplate`, overrides: [], notes: [] };
}

function otherPart<Override>(
  group: string,
  { LaunchTemplateId, LaunchTemplateName, VersionNumber, LaunchTemplateData }: TemplateVersion,
  image: string | undefined,
  override: string,
): Part<Override> {
  const of = [group, LaunchTemplateName ?? LaunchTemplateId, VersionNumber];
  const name = [...of, ...(image === undefined ? [] : [image])].join('-');
  const field = `${override}.${image === undefined ? 'LaunchTemplateSpecification' : 'ImageId'}`;
  return {
    name,
    template: image === undefined ? LaunchTemplateData : { ...LaunchTemplateData, ImageId: image },
    field,
    overrides: [],
    notes: [{ field, message: `${name}: ${LIMITS}` }],
  };
}
