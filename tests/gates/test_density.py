"""Functions of C++ stay within reach of a reader: `python -m bench.density` lists the most complex ones."""

from __future__ import annotations

from bench.density import cpp_complexity, cpp_density, cpp_functions, cpp_plain

from .sources import BINDINGS, KERNELS, cpp_files, hold, short

MOST = 12  # complexity of a function: one more than its branches

# "file: function" -> why it has more
STILL: dict[str, str] = {}


def test_functions_of_cpp_are_not_complex() -> None:
    functions = [one for path in cpp_files(KERNELS, BINDINGS) for one in cpp_density(path).functions]
    assert len(functions) > 1000
    hold(
        f"No function of C++ has a complexity above {MOST}",
        {f"{short(one.path)}: {one.name}" for one in functions if one.complexity > MOST},
        STILL,
        "separate what is decided from what is computed, name conditions, give loops that look for something "
        "to base/vectors.hpp",
    )


def test_what_counts_as_a_branch() -> None:
    text = """
    #define LOOP(x) for (;;) if (x) {}
    template <class T>
    int one(T&& x, const char* text = "if (a && b)") {  // while
      if (x && !x) return x ? 1 : 2;
      for (auto&& y : x) one(y || 'a');
    }
    struct Two {
      int at{0};
      int two() const { return [&] { while (at) {} }; }
    };"""
    found = [(name, line) for name, line, _ in cpp_functions(text)]
    assert found == [("one", 3), ("two", 10)]
    assert [cpp_complexity(body) for _, _, body in cpp_functions(text)] == [6, 2]
    assert "if" not in cpp_plain('#if 1\n "if" // if\n#endif')
