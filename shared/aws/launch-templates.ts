import {
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  DescribeLaunchTemplatesCommand,
  type EC2Client,
  type LaunchTemplate,
  type RequestLaunchTemplateData,
} from '@aws-sdk/client-ec2';
import { canonicalText } from '../core/launch/canonical-text.ts';
import type { ClusterFacts } from '../core/launch/cluster-facts.ts';
import { sha256 } from '../core/launch/sha256.ts';
import { type Labels, NODE_CLASS } from '../core/model/labels.ts';
import type { FleetOverride, FleetRequest } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { allPages, type Calls } from './calls.ts';
import { tagsOf, templateTags } from './tags.ts';
import type { TemplateVariant } from './template-data.ts';

/** Pods that ask for it get every interface for EFA that the type has. */
export const EFA = 'vpc.amazonaws.com/efa';

/** A template and the lines of the fleet that use it. */
export interface TemplateUse {
  readonly name: string;
  readonly overrides: readonly FleetOverride[];
}

export interface LaunchTemplateParts {
  readonly ec2: EC2Client;
  readonly calls: Calls;
  readonly cluster: () => Promise<ClusterFacts>;
  /** Network cards of a type that take an interface for EFA; none of a type that is not known. */
  readonly efaCards: (instanceType: string) => readonly number[];
}

/**
 * Launch templates named by the hash of their contents: equal ones are the same one, whoever made
 * it, so that finding one is trying to make it.
 */
export class LaunchTemplates {
  private readonly parts: LaunchTemplateParts;
  /** By name, those that were there when this sandbox last looked, or are being made. */
  private readonly known = new Map<string, Promise<void>>();

  constructor(parts: LaunchTemplateParts) {
    this.parts = parts;
  }

  /** Makes what is missing; at most one template per image, pod limit, EFA count, reservation. */
  async forFleet(fleet: FleetRequest): Promise<readonly TemplateUse[]> {
    // Loaded with the first launch: most ticks launch nothing, and it brings YAML and TOML.
    const { templateData } = await import('./template-data.ts');
    const cluster = await this.parts.cluster();
    const uses: TemplateUse[] = [];
    for (const { variant, overrides } of this.variants(fleet)) {
      const data = templateData(fleet, variant, cluster);
      uses.push({ name: await this.ensure(fleet, data), overrides });
    }
    return uses;
  }

  /** After EC2 said that one of them is gone. */
  forget(uses: readonly TemplateUse[]): void {
    for (const { name } of uses) this.known.delete(name);
  }

  /** Templates that were made for the class, in this cluster. */
  async ofNodeClass(cluster: string, nodeClass: string): Promise<readonly LaunchTemplate[]> {
    const { ec2, calls } = this.parts;
    const filters = [
      { Name: 'tag:eks:eks-cluster-name', Values: [cluster] },
      { Name: `tag:${NODE_CLASS}`, Values: [nodeClass] },
    ];
    const all = await allPages(async (token) => {
      const command = new DescribeLaunchTemplatesCommand({ Filters: filters, NextToken: token });
      const page = await calls.run('ec2:DescribeLaunchTemplates', () => ec2.send(command));
      return { items: page.LaunchTemplates, next: page.NextToken };
    });
    return all.filter((each) => each.LaunchTemplateName?.startsWith(NAME_PREFIX));
  }

  /** One that is gone already is not an error. */
  async remove(name: string): Promise<void> {
    this.known.delete(name);
    const { ec2, calls } = this.parts;
    const command = new DeleteLaunchTemplateCommand({ LaunchTemplateName: name });
    try {
      await calls.run('ec2:DeleteLaunchTemplate', () => ec2.send(command));
    } catch (error) {
      if (!(error instanceof PortError) || error.kind !== 'not-found') throw error;
    }
  }

  private variants(
    fleet: FleetRequest,
  ): readonly { readonly variant: TemplateVariant; readonly overrides: FleetOverride[] }[] {
    const wantsEfa = (fleet.requests[EFA] ?? 0) > 0;
    const groups = new Map<string, { variant: TemplateVariant; overrides: FleetOverride[] }>();
    for (const override of fleet.overrides) {
      const { instanceType, imageId, reservationId } = override;
      const variant: TemplateVariant = {
        imageId,
        podsMax: fleet.podsMax[instanceType] ?? 110,
        efaCards: wantsEfa ? this.parts.efaCards(instanceType) : [],
        reservationId,
      };
      const key = canonicalText(variant);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { variant, overrides: [override] });
      else group.overrides.push(override);
    }
    return [...groups.values()].slice(0, TEMPLATES_MAX);
  }

  private async ensure(fleet: FleetRequest, data: RequestLaunchTemplateData): Promise<string> {
    const tags = templateTags(fleet);
    const name = `${NAME_PREFIX}${sha256(canonicalText({ data, tags })).slice(0, 32)}`;
    // Fleets are asked for at the same time, and mostly need the same template.
    const made = this.known.get(name) ?? this.make(name, data, tags);
    this.known.set(name, made);
    try {
      await made;
    } catch (error) {
      if (this.known.get(name) === made) this.known.delete(name);
      throw error;
    }
    return name;
  }

  /** One that is there already is the same. */
  private async make(name: string, data: RequestLaunchTemplateData, tags: Labels): Promise<void> {
    const { ec2, calls } = this.parts;
    const command = new CreateLaunchTemplateCommand({
      LaunchTemplateName: name,
      LaunchTemplateData: data,
      TagSpecifications: [{ ResourceType: 'launch-template', Tags: tagsOf(tags) }],
    });
    try {
      await calls.run('ec2:CreateLaunchTemplate', () => ec2.send(command));
    } catch (error) {
      const exists = 'InvalidLaunchTemplateName.AlreadyExistsException';
      if (!(error instanceof PortError) || error.code !== exists) throw error;
    }
  }
}

/** In one fleet; the cheapest lines come first. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html */
const TEMPLATES_MAX = 50;
/** Not Karpenter's: each deletes what it does not know of its own. */
const NAME_PREFIX = 'joiner.dev/';
