package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.file.{EntryStatus, FileFormat}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.{DoubleLiteral, IntLiteral}

/** Tests [[StatsAggregate]], the statistics of all files of a version 4 manifest. */
class StatsAggregateSuite extends AnyFunSuite {
  private def int(value: Int): Option[Literal] = Some(IntLiteral(value))

  private def merged(stats: FieldStats*): Option[FieldStats] = mergedWith(Set.empty, stats)

  private def mergedWith(keys: Set[Int], stats: Seq[FieldStats]): Option[FieldStats] = {
    val version = VersionInfo(EntryStatus.Added, None, None, None)
    val entries = stats.map { s =>
      val byId = if (s.isEmpty) Map.empty[Int, FieldStats] else Map(1 -> s)
      ContentEntry(EntryContent.Data, "f", FileFormat.Parquet, version, 0, 1L, Some(1L), ContentStats(byId))
    }
    StatsAggregate.of(entries.toVector, keys).get(1)
  }

  test("bounds are the least and the greatest bounds, and counts are sums") {
    val a = FieldStats(int(5), int(9), Some(true), Some(10L), Some(1L))
    val b = FieldStats(int(-3), int(6), Some(true), Some(20L), Some(0L))
    assert(merged(a, b).contains(FieldStats(int(-3), int(9), Some(true), Some(30L), Some(1L))))
  }

  test("a statistic that any file lacks is absent") {
    val a = FieldStats(int(5), int(9), Some(true), Some(10L), Some(1L))
    assert(merged(a, FieldStats(upper = int(7), valueCount = Some(5L))).contains(
      FieldStats(upper = int(9), valueCount = Some(15L))
    ))
    assert(merged(a, FieldStats.Empty).isEmpty)
  }

  test("files whose values are all null or NaN do not affect the bounds") {
    val nulls = FieldStats(valueCount = Some(10L), nullCount = Some(10L))
    val nan = FieldStats(valueCount = Some(4L), nullCount = Some(1L), nanCount = Some(3L))
    val some = FieldStats(Some(DoubleLiteral(1)), Some(DoubleLiteral(2)), None, Some(3L), Some(0L), Some(0L))
    assert(merged(nulls, some, nan).map(s => (s.lower, s.upper)).contains((some.lower, some.upper)))
    assert(merged(nulls, nulls).contains(FieldStats(None, None, Some(true), Some(20L), Some(20L))))
  }

  test("the upper bound of a derived partition value is its lower bound") {
    val a = FieldStats(lower = int(3), nullCount = Some(0L))
    val both = mergedWith(Set(1), Seq(a, a.copy(lower = int(8))))
    assert(both.contains(FieldStats(int(3), int(8), None, None, Some(0L))))
  }

  test("the upper bound of a column is unknown if a file has only a lower bound") {
    val a = FieldStats(int(3), int(5), None, Some(10L), Some(0L))
    val b = a.copy(lower = int(8), upper = None)
    assert(merged(a, b).contains(FieldStats(int(3), None, None, Some(20L), Some(0L))))
  }

  test("the average size is weighted by the number of values") {
    val a = FieldStats(valueCount = Some(10L), nullCount = Some(0L), averageSize = Some(4), maxSize = Some(9))
    val b = FieldStats(valueCount = Some(40L), nullCount = Some(10L), averageSize = Some(8), maxSize = Some(8))
    assert(merged(a, b).exists(s => s.averageSize.contains(7) && s.maxSize.contains(9)))
  }
}
