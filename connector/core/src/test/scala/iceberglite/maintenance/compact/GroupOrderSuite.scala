package iceberglite.maintenance.compact

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.{FormatVersion, SampleTables}

/** Tests the order in which file groups are rewritten. */
class GroupOrderSuite extends AnyFunSuite {
  import GroupOrderSuite._

  private val Seq(a, b, c, d) = Seq(Group(3, 20), Group(1, 50), Group(2, 10), Group(3, 50))

  private def sorted(options: (String, String)*): Vector[Group] =
    GroupOptions.ofPositionDeletes(options.toMap, SampleTables.withHistory(FormatVersion.V3)).sorted(Vector(a, b, c, d))

  test("rewrite-job-order orders groups by bytes or files; groups that are equal keep their order") {
    val expected = Map(
      "none" -> Vector(a, b, c, d),
      "bytes-asc" -> Vector(c, a, b, d),
      "bytes-desc" -> Vector(b, d, a, c),
      "files-asc" -> Vector(b, c, a, d),
      "files-desc" -> Vector(a, d, c, b)
    )
    for ((order, groups) <- expected) assert(sorted("rewrite-job-order" -> order) == groups, order)
    assert(expected.keySet == GroupOrder.all.map(_.name).toSet)
  }

  test("without rewrite-job-order, groups keep their order") {
    assert(sorted() == Vector(a, b, c, d))
  }
}

private object GroupOrderSuite {
  final case class Group(files: Int, bytes: Long, reason: String = "") extends RewriteGroup
}
