import { DescribeImagesCommand, type EC2Client, type Filter } from '@aws-sdk/client-ec2';
import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { canonicalText } from '../core/launch/canonical-text.ts';
import type { ClusterFacts } from '../core/launch/cluster-facts.ts';
import { aliasParameters } from '../core/launch/image-families/families.ts';
import {
  type CandidateImage,
  type FoundImage,
  selectImages,
} from '../core/launch/image-selection.ts';
import type { Image, NodeClass, SelectorTerm } from '../core/model/node-class.ts';
import type { RequirementExpression } from '../core/model/requirement.ts';
import type { Images } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { allPages, type Calls } from './calls.ts';
import { Remembered } from './images/remembered.ts';
import { tagFilters } from './network.ts';

const MINUTE_MS = 60_000;

/** How long answers hold. */
export const IMAGE_CACHE_MS = {
  /** A public parameter of an alias. */
  alias: 24 * 60 * MINUTE_MS,
  /** A parameter that the class names. */
  parameter: 5 * MINUTE_MS,
  /** EC2's description of images. */
  images: MINUTE_MS,
  /** A parameter whose image is deprecated is read again when it is this old. */
  deprecated: 30 * MINUTE_MS,
} as const;

export interface ImageParts {
  readonly ec2: EC2Client;
  readonly ssm: SSMClient;
  readonly calls: Calls;
  readonly cluster: () => Promise<Pick<ClusterFacts, 'kubernetesVersion'>>;
}

/** A parameter that is to be read, and what it says about the types of its image. */
interface Named {
  readonly parameter: string;
  /** Undefined: only the image's architecture counts. */
  readonly requirements: readonly RequirementExpression[] | undefined;
  readonly lastsMs: number;
  /** The name will always hold the same image. */
  readonly isPinned: boolean;
}

/** An image id with the parameter that it came from, if any. */
interface Wanted {
  readonly id: string;
  readonly from: Named | undefined;
}

/** One question to EC2: all filters are met, the image is of one of the owners. */
interface Question {
  readonly filters: readonly Filter[];
  readonly owners: readonly string[] | undefined;
}

/** Without an owner a name finds own and Amazon's images only, not anyone's public ones. */
function questionOf(term: SelectorTerm): Question {
  const name: Filter[] = term.name === undefined ? [] : [{ Name: 'name', Values: [term.name] }];
  const ownersOfName = term.name === undefined ? undefined : ['self', 'amazon'];
  return {
    filters: [...name, ...tagFilters(term)],
    owners: term.owner === undefined ? ownersOfName : [term.owner],
  };
}

/** Machine images behind selector terms, per kind of instance the newest. */
export class Ec2Images implements Images {
  private readonly parts: ImageParts;
  private readonly parameters: Remembered<string | undefined>;
  private readonly descriptions: Remembered<readonly CandidateImage[]>;

  constructor(parts: ImageParts) {
    this.parts = parts;
    const nowMs = (): number => parts.calls.timing.nowMs();
    this.parameters = new Remembered(nowMs);
    this.descriptions = new Remembered(nowMs);
  }

  async resolve(nodeClass: NodeClass): Promise<readonly Image[]> {
    const terms = nodeClass.amiSelectorTerms;
    const named = (await Promise.all(terms.map((term) => this.namedBy(term)))).flat();
    const ids = terms.flatMap(({ id }): readonly Wanted[] =>
      id === undefined ? [] : [{ id, from: undefined }],
    );
    const read = await Promise.all(named.map((each) => this.imageOf(each)));
    const wanted = [...ids, ...read.flatMap((each) => each ?? [])];
    // EC2 would answer a question without filters with everybody's public images.
    const questions = terms.map(questionOf).filter(({ filters }) => filters.length > 0);
    const found = await Promise.all([
      this.byId(wanted),
      ...questions.map(async (question) => plain(await this.describe(question))),
    ]);
    return selectImages(found.flat());
  }

  private async namedBy(term: SelectorTerm): Promise<readonly Named[]> {
    if (term.ssmParameter !== undefined) {
      const lastsMs = IMAGE_CACHE_MS.parameter;
      const parameter = term.ssmParameter;
      return [{ parameter, requirements: undefined, lastsMs, isPinned: false }];
    }
    if (term.alias === undefined) return [];
    const { kubernetesVersion } = await this.parts.cluster();
    const reading = aliasParameters(term.alias, kubernetesVersion);
    if (!reading.ok) {
      const message = `spec.amiSelectorTerms: ${reading.message}`;
      throw new PortError('invalid', 'UnsupportedImageAlias', message);
    }
    const isPinned = !term.alias.endsWith('@latest');
    return reading.parameters.map(({ name, requirements }) => ({
      parameter: name,
      requirements,
      lastsMs: IMAGE_CACHE_MS.alias,
      isPinned,
    }));
  }

  /** Undefined: there is no such parameter, as for a variant that EKS does not publish. */
  private async imageOf(named: Named): Promise<Wanted | undefined> {
    const { parameter, lastsMs } = named;
    const id = await this.parameters.get(parameter, lastsMs, () => this.readParameter(parameter));
    return id === undefined ? undefined : { id, from: named };
  }

  private async readParameter(name: string): Promise<string | undefined> {
    const { ssm, calls } = this.parts;
    try {
      const { Parameter } = await calls.run('ssm:GetParameter', () =>
        ssm.send(new GetParameterCommand({ Name: name })),
      );
      const value = Parameter?.Value?.trim() ?? '';
      if (/^ami-[0-9a-f]{8,17}$/.test(value)) return value;
      const said = `the SSM parameter ${name} does not hold the id of an image`;
      throw new PortError('invalid', 'InvalidImageParameter', `spec.amiSelectorTerms: ${said}`);
    } catch (error) {
      if (error instanceof PortError && error.kind === 'not-found') return undefined;
      throw error;
    }
  }

  private async byId(wanted: readonly Wanted[]): Promise<readonly FoundImage[]> {
    if (wanted.length === 0) return [];
    const ids = [...new Set(wanted.map(({ id }) => id))].sort();
    const filters = [{ Name: 'image-id', Values: ids }];
    const images = await this.describe({ filters, owners: undefined });
    const byId = new Map(images.map((image) => [image.id, image]));
    return wanted.flatMap(({ id, from }) => {
      const image = byId.get(id);
      if (from !== undefined && !from.isPinned && image?.deprecated !== false) {
        this.parameters.forget(from.parameter, IMAGE_CACHE_MS.deprecated);
      }
      return image === undefined ? [] : [{ image, requirements: from?.requirements }];
    });
  }

  private describe(question: Question): Promise<readonly CandidateImage[]> {
    return this.descriptions.get(canonicalText(question), IMAGE_CACHE_MS.images, () =>
      this.readImages(question),
    );
  }

  private async readImages({ filters, owners }: Question): Promise<readonly CandidateImage[]> {
    const { ec2, calls } = this.parts;
    const nowMs = calls.timing.nowMs();
    const images = await allPages(async (token) => {
      const { Images: items, NextToken: next } = await calls.run('ec2:DescribeImages', () =>
        ec2.send(
          new DescribeImagesCommand({
            Filters: [...filters],
            IncludeDeprecated: true,
            MaxResults: 1000,
            ...(owners === undefined ? {} : { Owners: [...owners] }),
            ...(token === undefined ? {} : { NextToken: token }),
          }),
        ),
      );
      return { items, next };
    });
    return images.flatMap((image) => {
      const { ImageId: id, State: state = 'available' } = image;
      if (id === undefined || state !== 'available') return [];
      const deprecatedAtMs = Date.parse(image.DeprecationTime ?? '');
      const createdAtMs = Date.parse(image.CreationDate ?? '');
      return [
        {
          id,
          name: image.Name,
          architecture: image.Architecture,
          createdAtMs: Number.isNaN(createdAtMs) ? 0 : createdAtMs,
          deprecated: deprecatedAtMs <= nowMs,
        },
      ];
    });
  }
}

function plain(images: readonly CandidateImage[]): readonly FoundImage[] {
  return images.map((image) => ({ image, requirements: undefined }));
}
