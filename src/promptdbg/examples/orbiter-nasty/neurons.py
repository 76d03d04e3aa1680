"""Neurons in Python. promptdbg runs this file only with --trust."""

from orbiter.context import Neuron, neuron_registry


class ToneNeuron(Neuron):
    async def format(self, ctx, **kwargs):
        name = ctx.state.get("customer", {}).get("name", "the customer")
        return f"Keep a calm tone with {name}."


neuron_registry.register("tone", ToneNeuron("tone", priority=45))
