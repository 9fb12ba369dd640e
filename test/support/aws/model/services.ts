import type * as eks from '@aws-sdk/client-eks';
import type * as events from '@aws-sdk/client-eventbridge';
import type * as pricing from '@aws-sdk/client-pricing';
import type * as ssm from '@aws-sdk/client-ssm';
import type { Currency } from '../../../../shared/core/model/currency.ts';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import type { Account } from './account.ts';
import { handle, page } from './handle.ts';

export function parameterHandlers(account: Account): Handlers {
  return {
    GetParameter: handle<ssm.GetParameterRequest, ssm.GetParameterCommandOutput>(
      ({ Name = '' }) => {
        const Value = account.parameters.get(Name);
        if (Value === undefined) throw new WireFault('ParameterNotFound', `${Name} is not there`);
        return { Parameter: { Name, Value, Type: 'String' } };
      },
    ),
  };
}

/** One cluster; `undefined`: none. It has one access entry, with these policies. */
export function clusterHandlers(
  cluster: () => eks.Cluster | undefined,
  accessPolicies: Set<string>,
): Handlers {
  return {
    DisassociateAccessPolicy: handle<
      eks.DisassociateAccessPolicyRequest,
      eks.DisassociateAccessPolicyCommandOutput
    >(({ policyArn = '' }) => {
      if (!accessPolicies.delete(policyArn)) {
        const message = 'The specified policyArn is not associated with the principalArn.';
        throw new WireFault('ResourceNotFoundException', message, 404);
      }
      return {};
    }),
    DescribeCluster: handle<eks.DescribeClusterRequest, eks.DescribeClusterCommandOutput>(
      ({ name }) => {
        const found = cluster();
        if (found === undefined || found.name !== name) {
          const message = `No cluster found for name: ${name}.`;
          throw new WireFault('ResourceNotFoundException', message, 404);
        }
        return { cluster: found };
      },
    ),
  };
}

/** Entries that came, in order. */
export function eventHandlers(entries: events.PutEventsRequestEntry[]): Handlers {
  return {
    PutEvents: handle<events.PutEventsRequest, events.PutEventsCommandOutput>(
      ({ Entries = [] }) => {
        entries.push(...Entries);
        return {
          FailedEntryCount: 0,
          Entries: Entries.map((_, at) => ({ EventId: `event-${entries.length - at}` })),
        };
      },
    ),
  };
}

export interface OnDemandPrice {
  readonly instanceType: string;
  /** In the currency of the region. */
  readonly price: number;
}

/** Price lists come as JSON texts, 100 a page. https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html */
export function priceHandlers(prices: readonly OnDemandPrice[], currency: Currency): Handlers {
  return {
    GetProducts: handle<pricing.GetProductsRequest, pricing.GetProductsCommandOutput>((request) => {
      const tenancy = request.Filters?.find((each) => each.Field === 'tenancy')?.Value;
      const isDedicated = tenancy === 'Dedicated';
      const all = prices.filter((each) => each.instanceType.includes('metal') === isDedicated);
      const { items, next } = page(all, request.NextToken, 100);
      const list = items.map(({ instanceType, price }) => ({
        product: { attributes: { instanceType } },
        terms: {
          OnDemand: {
            'sku.term': {
              priceDimensions: {
                'sku.term.hour': { unit: 'Hrs', pricePerUnit: { [currency]: String(price) } },
              },
            },
          },
        },
      }));
      return { PriceList: list.map((each) => JSON.stringify(each)), NextToken: next };
    }),
  };
}
