package nodeoverlay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/joiner"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
)

// mirrored gives overlays each other's names where JOINER_MIRROR is set, so that the last in the
// alphabet is the first: among equal weights Karpenter's winner is the last and Joiner's the first,
// and all else can then be compared.
func mirrored(overlays []v1alpha1.NodeOverlay) map[string]string {
	names := []string{}
	for _, o := range overlays {
		names = append(names, o.Name)
	}
	sort.Strings(names)
	called := map[string]string{}
	for at, name := range names {
		called[name] = name
		if os.Getenv("JOINER_MIRROR") != "" {
			called[name] = names[len(names)-1-at]
		}
	}
	return called
}

type joinerType struct {
	Name             string            `json:"name"`
	Capacity         map[string]string `json:"capacity"`
	CapacityOverlaid bool              `json:"capacityOverlaid"`
	Offerings        []struct {
		Price    float64 `json:"price"`
		Overlaid bool    `json:"overlaid"`
	} `json:"offerings"`
}

// joinerOverlays is what `joiner diagnose` says of overlays.
type joinerOverlays struct {
	Overlays []struct {
		Name       string `json:"name"`
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"overlays"`
	NodePools map[string][]joinerType `json:"nodePools"`
	Rejected  map[string][]string     `json:"rejected"`
}

// joinerPools is what the pools may use; a pool whose types cannot be listed is left out.
type joinerPools struct {
	names  []string
	pools  []*v1.NodePool
	types  map[string][]*cloudprovider.InstanceType
	failed error
}

// Reconcile has Joiner evaluate the overlays: its prices and capacities go to the store, and its
// conditions to the overlays.
func (c *Controller) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	ctx = injection.WithControllerName(ctx, c.Name())
	list := &v1alpha1.NodeOverlayList{}
	if err := c.kubeClient.List(ctx, list); err != nil {
		return reconcile.Result{}, err
	}
	pools, err := c.joinerPools(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	called := mirrored(list.Items)
	overlays := []v1alpha1.NodeOverlay{}
	for _, o := range list.Items {
		o.Name = called[o.Name]
		o.APIVersion, o.Kind = "karpenter.sh/v1alpha1", "NodeOverlay"
		o.ManagedFields = nil
		overlays = append(overlays, o)
	}
	got := joinerOverlays{}
	instanceTypes, typeNames := joiner.InstanceTypes(pools.names, pools.types)
	kase := map[string]any{
		"instanceTypes": instanceTypes, "nodePools": pools.pools,
		"nodeOverlays": overlays, "pods": []any{},
	}
	if err := joiner.Ask("overlays", kase, &got); err != nil {
		return reconcile.Result{}, err
	}
	conflicts, err := c.writeConditions(ctx, list.Items, called, got)
	if err != nil || conflicts {
		return reconcile.Result{Requeue: conflicts}, err
	}
	c.instanceTypeStore.UpdateStore(storeOf(pools.names, got, typeNames))
	c.clusterState.MarkUnconsolidated()
	if pools.failed != nil {
		return reconcile.Result{}, pools.failed
	}
	return reconcile.Result{RequeueAfter: 6 * time.Hour}, nil
}

func (c *Controller) joinerPools(ctx context.Context) (joinerPools, error) {
	out := joinerPools{
		pools: []*v1.NodePool{},
		types: map[string][]*cloudprovider.InstanceType{},
	}
	list := &v1.NodePoolList{}
	if err := c.kubeClient.List(ctx, list); err != nil {
		return out, err
	}
	for i := range list.Items {
		np := &list.Items[i]
		its, err := c.cloudProvider.GetInstanceTypes(ctx, np)
		if err != nil {
			out.failed = errors.Join(out.failed, fmt.Errorf("instance types of %q: %w", np.Name, err))
			continue
		}
		out.types[np.Name] = its
		out.names = append(out.names, np.Name)
		out.pools = append(out.pools, joiner.NodePool(np))
	}
	return out, nil
}

func storeOf(names []string, got joinerOverlays, typeNames joiner.Names) *internalInstanceTypeStore {
	store := newInternalInstanceTypeStore()
	store.evaluatedNodePools.Insert(names...)
	for pool, list := range got.NodePools {
		for _, changed := range list {
			it := typeNames.Of(pool, changed.Name)
			update := updateOf(it, changed)
			if len(update.Price)+len(update.Capacity.OverlayUpdate) == 0 {
				continue
			}
			if store.updates[pool] == nil {
				store.updates[pool] = map[string]*instanceTypeUpdate{}
			}
			store.updates[pool][it.Name] = update
		}
	}
	return store
}

func updateOf(it *cloudprovider.InstanceType, changed joinerType) *instanceTypeUpdate {
	update := &instanceTypeUpdate{
		Price:    map[string]*priceUpdate{},
		Capacity: &capacityUpdate{OverlayUpdate: corev1.ResourceList{}},
	}
	for at, o := range changed.Offerings {
		if o.Overlaid {
			price := strconv.FormatFloat(o.Price, 'g', -1, 64)
			update.Price[it.Offerings[at].Requirements.String()] = &priceUpdate{OverlayUpdate: &price}
		}
	}
	if !changed.CapacityOverlaid {
		return update
	}
	for name, amount := range changed.Capacity {
		quantity := resource.MustParse(amount)
		before, ok := it.Capacity[corev1.ResourceName(name)]
		if !ok || before.Cmp(quantity) != 0 {
			update.Capacity.OverlayUpdate[corev1.ResourceName(name)] = quantity
		}
	}
	return update
}

// writeConditions says whether a write met a newer object, or none.
func (c *Controller) writeConditions(
	ctx context.Context, overlays []v1alpha1.NodeOverlay, called map[string]string, got joinerOverlays,
) (bool, error) {
	var failed error
	for i := range overlays {
		o := &overlays[i]
		stored := o.DeepCopy()
		c.setConditions(o, called[o.Name], got)
		if equality.Semantic.DeepEqual(stored, o) {
			continue
		}
		patch := client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{})
		if err := c.kubeClient.Status().Patch(ctx, o, patch); err != nil {
			if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
				return true, nil
			}
			failed = errors.Join(failed, err)
		}
	}
	return false, failed
}

func (c *Controller) setConditions(o *v1alpha1.NodeOverlay, name string, got joinerOverlays) {
	conditions := o.StatusConditions(status.WithClock(c.clock))
	conditions.SetTrue(v1alpha1.ConditionTypeValidationSucceeded)
	if reasons, ok := got.Rejected["NodeOverlay/"+name]; ok {
		conditions.SetFalse(
			v1alpha1.ConditionTypeValidationSucceeded, "RuntimeValidation", fmt.Sprint(reasons),
		)
	}
	for _, report := range got.Overlays {
		for _, condition := range report.Conditions {
			isIt := report.Name == name && condition.Status == "False" &&
				condition.Type == v1alpha1.ConditionTypeValidationSucceeded
			if isIt {
				conditions.SetFalse(condition.Type, condition.Reason, condition.Message)
			}
		}
	}
}
