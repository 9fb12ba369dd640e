import type {
  CreateLaunchTemplateCommandOutput,
  CreateLaunchTemplateRequest,
  DeleteLaunchTemplateCommandOutput,
  DeleteLaunchTemplateRequest,
  DescribeLaunchTemplatesCommandOutput,
  DescribeLaunchTemplatesRequest,
} from '@aws-sdk/client-ec2';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import type { Account } from './account.ts';
import { meetsFilters, tagAttributes } from './filters.ts';
import { handle, page } from './handle.ts';

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html */
const USER_DATA_BYTES_MAX = 16_384;

function create(account: Account, request: CreateLaunchTemplateRequest) {
  const name = request.LaunchTemplateName ?? '';
  if (!/^[a-zA-Z0-9().\-/_]{3,128}$/.test(name)) {
    throw new WireFault('InvalidLaunchTemplateName.MalformedException', `Invalid name: ${name}`);
  }
  if (account.templates.has(name)) {
    const message = 'Launch template name already in use.';
    throw new WireFault('InvalidLaunchTemplateName.AlreadyExistsException', message);
  }
  const data = request.LaunchTemplateData ?? {};
  if (Buffer.from(data.UserData ?? '', 'base64').length > USER_DATA_BYTES_MAX) {
    throw new WireFault('InvalidUserData.Malformed', 'User data is limited to 16384 bytes');
  }
  const tags = (request.TagSpecifications ?? [])
    .filter((each) => each.ResourceType === 'launch-template')
    .flatMap((each) => each.Tags ?? []);
  const about = {
    LaunchTemplateId: account.newId('lt'),
    LaunchTemplateName: name,
    CreateTime: new Date(account.nowMs),
    Tags: tags,
  };
  account.templates.set(name, { about, data });
  return { LaunchTemplate: about };
}

function describe(account: Account, request: DescribeLaunchTemplatesRequest) {
  const names = request.LaunchTemplateNames;
  const missing = names?.find((name) => !account.templates.has(name));
  if (missing !== undefined) {
    const message = 'At least one of the launch templates specified does not exist.';
    throw new WireFault('InvalidLaunchTemplateName.NotFoundException', message);
  }
  const kept = [...account.templates.values()]
    .map((each) => each.about)
    .filter(
      (each) =>
        (names === undefined || names.includes(each.LaunchTemplateName ?? '')) &&
        meetsFilters(
          request.Filters,
          tagAttributes(each.Tags ?? [], () => undefined),
        ),
    );
  const { items, next } = page(kept, request.NextToken, Math.min(200, account.pageSize));
  return { LaunchTemplates: items, NextToken: next };
}

function remove(account: Account, { LaunchTemplateName = '' }: DeleteLaunchTemplateRequest) {
  const found = account.templates.get(LaunchTemplateName);
  if (found === undefined) {
    const message = `The launch template ${LaunchTemplateName} does not exist.`;
    throw new WireFault('InvalidLaunchTemplateName.NotFoundException', message);
  }
  account.templates.delete(LaunchTemplateName);
  return { LaunchTemplate: found.about };
}

export function templateHandlers(account: Account): Handlers {
  return {
    CreateLaunchTemplate: handle<CreateLaunchTemplateRequest, CreateLaunchTemplateCommandOutput>(
      (request) => create(account, request),
    ),
    DescribeLaunchTemplates: handle<
      DescribeLaunchTemplatesRequest,
      DescribeLaunchTemplatesCommandOutput
    >((request) => describe(account, request)),
    DeleteLaunchTemplate: handle<DeleteLaunchTemplateRequest, DeleteLaunchTemplateCommandOutput>(
      (request) => remove(account, request),
    ),
  };
}
