"""The same four jobs with Python's Jinja2; prints seconds per job as JSON."""
import json
import sys
import time

import jinja2

folder = sys.argv[1]
config = open(folder + "/config.j2").read()
data = json.load(open(folder + "/vars.json"))


def env():
    return jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined, cache_size=0)


def best(job, repeat):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def parse_render():
    return env().from_string(config).render(data)


loop = env().from_string("{% for i in range(100) %}{{ loop.index }}:{{ i }}{% if not loop.last %},{% endif %}{% endfor %}")
expression = env().compile_expression("a.b | default('x')", undefined_to_none=False)
empty = env().from_string("{% for i in range(3000000) %}{% endfor %}")


def expressions():
    for _ in range(10000):
        expression(a=data["a"])


print(json.dumps({
    "output": parse_render(),
    "parse and render 200 lines": best(parse_render, 15),
    "loop of 100 steps": best(lambda: loop.render(data), 200),
    "10000 expressions": best(expressions, 5),
    "empty loop of 3000000 steps": best(lambda: empty.render(data), 3),
}))
