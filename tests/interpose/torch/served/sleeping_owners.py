# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory under movable tags sleeps and wakes on a card of 24 GiB. Prints what was seen, as a line of JSON."""

import json

import memtrace
import torch
from support.seen_in_program import refused, used

GIB = 1 << 30
told = {}


def fits(size):
    try:
        torch.empty(size, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        return False
    return True


def contents_and_addresses():
    host = torch.randn(1500, 1500)
    with memtrace.tag("policy", movable=True):
        policy = torch.nn.Linear(1500, 1500, device="cuda")
    with torch.no_grad():
        policy.weight.copy_(host)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    before = policy.weight.data_ptr(), torch.cuda.memory_allocated(), used()
    slept = memtrace.sleep("policy")
    told["slept"] = {
        "moved": list(slept),
        "allocated": before[1] - torch.cuda.memory_allocated(),
        "card": before[2] - used(),
        "weight": policy.weight.numel() * 4,
        "asleep": memtrace.asleep()["policy"],
        "twice": refused(memtrace.sleep, "policy"),
        "allocation": refused(allocate_under, "policy"),
        "touched": refused(lambda: policy.weight @ torch.ones(1500, device="cuda")),
        "copied": refused(policy.weight.cpu),
        "like": refused(lambda: (torch.empty_like(policy.weight), policy.weight.view(-1), policy.weight[0])),
    }
    beside = torch.ones(1500, 1500, device="cuda")
    woke = memtrace.wake("policy")
    told["woke"] = {
        "moved": list(woke),
        "same address": policy.weight.data_ptr() == before[0],
        "same contents": torch.equal(policy.weight.detach().cpu(), host),
        "allocated": torch.cuda.memory_allocated() - before[1] - beside.nbytes,
        "asleep": memtrace.asleep(),
        "twice": refused(memtrace.wake, "policy"),
        "released": memtrace.release_host_memory(),
    }
    policy(torch.ones(4, 1500, device="cuda")).sum().backward()
    optimizer.step()


def allocate_under(name):
    with memtrace.tag(name, movable=True):
        torch.empty(1, device="cuda")


def nothing_kept():
    with memtrace.tag("kv", movable=True):
        cache = torch.empty(1000, device="cuda")
    cache.copy_(torch.ones(1000))
    memtrace.sleep("kv", keep="nothing")
    memtrace.wake("kv")
    told["zeros"] = cache.cpu().abs().sum().item()


def fourteen():
    with memtrace.tag("inference", movable=True):
        weights = torch.empty(14 * GIB, dtype=torch.uint8, device="cuda")
    address = weights.data_ptr()
    told["14 GiB beside 14 GiB"] = fits(14 * GIB)
    memtrace.sleep("inference", keep="nothing")
    told["14 GiB while they sleep"] = fits(14 * GIB)
    other = torch.empty(15 * GIB, dtype=torch.uint8, device="cuda")
    told["wake of 14 GiB beside 15 GiB"] = refused(memtrace.wake, "inference")
    del other
    memtrace.wake("inference")
    told["same address of 14 GiB"] = weights.data_ptr() == address


def whole_model():
    model = torch.nn.Sequential(torch.nn.Linear(700, 700), torch.nn.BatchNorm1d(700), torch.nn.Linear(700, 700)).cuda()
    model[2].weight = model[0].weight
    values = {name: value.cpu() for name, value in model.state_dict().items()}
    parameters = list(map(id, model.parameters()))
    memtrace.movable(model, "reference")
    slept = memtrace.sleep("reference")
    memtrace.wake("reference")
    told["model"] = {
        "bytes": slept.card_bytes,
        "same parameters": parameters == list(map(id, model.parameters())),
        "tied": model[2].weight is model[0].weight,
        "same contents": all(torch.equal(values[name], value.cpu()) for name, value in model.state_dict().items()),
    }
    model(torch.ones(2, 700, device="cuda")).sum().backward()


def graph():
    stream = torch.cuda.Stream()
    captured = torch.cuda.CUDAGraph()
    with memtrace.tag("graphs", movable=True):
        value = torch.zeros(1000, device="cuda")
        source = torch.zeros(1000, device="cuda")
    with torch.cuda.graph(captured, stream=stream):
        told["in a capture"] = refused(memtrace.sleep, "graphs")
        value.copy_(source)
    memtrace.sleep("graphs", keep="nothing")
    memtrace.wake("graphs")
    source.copy_(torch.full((1000,), 3.0))
    captured.replay()
    torch.cuda.synchronize()
    told["replay after a wake"] = "ran"  # the card does not know what a replay has written


def saver():
    memtrace.as_torch_memory_saver()
    from torch_memory_saver import configure_subprocess, torch_memory_saver

    torch_memory_saver.hook_mode = "preload"
    host = torch.randn(3000)
    with configure_subprocess(), torch_memory_saver.region(tag="weights", enable_cpu_backup=True):
        weights = host.cuda()
        with torch_memory_saver.disable():
            other = torch.ones(1000, device="cuda")
    with torch_memory_saver.region(tag="cache"):
        cache = torch.ones(1000).cuda()
    addresses = weights.data_ptr(), cache.data_ptr()
    awake = torch_memory_saver.get_cpu_backup(weights)
    torch_memory_saver.pause("weights")
    backup = torch_memory_saver.get_cpu_backup(weights[1:])
    twice = refused(torch_memory_saver.pause, "weights")
    torch_memory_saver.pause()
    paused = sorted(memtrace.asleep())
    still = other.cpu().shape
    torch_memory_saver.resume()
    told["saver"] = {
        "paused": paused,
        "twice": twice,
        "backup": awake is None and torch.equal(backup, host[1:]) and list(still) == [1000],
        "contents": torch.equal(weights.cpu(), host),
        "zeros": cache.cpu().abs().sum().item() == 0,
        "addresses": addresses == (weights.data_ptr(), cache.data_ptr()),
        "asleep": memtrace.asleep(),
        "disk": refused(torch_memory_saver.set_disk_backup_dir, "/tmp"),
    }


contents_and_addresses()
nothing_kept()
fourteen()
whole_model()
graph()
saver()
told["unknown"] = refused(memtrace.wake, "polcy")
told["keep"] = refused(memtrace.sleep, "policy", "disk")
print(json.dumps(told))
