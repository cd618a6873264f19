package iceberglite.tree.root

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V2, V4}
import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestEntry, MetricMaps, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.tree.TestTable

/** Tests that the leaves of large commits have about the configured size. */
class LeafSizesSuite extends AnyFunSuite {
  private val target = 200000
  private val random = new Random(11)

  private def table(schema: Schema): TestTable = new TestTable(
    schema,
    version = V4,
    properties =
      Map("commit.manifest.target-size-bytes" -> target.toString, "commit.manifest-merge.enabled" -> "false")
  )

  private def columns(count: Int): Schema = Schema(
    0,
    Vector.tabulate(count)(i => NestedField.optional(i + 1, s"c$i", if (i % 5 == 4) StringType else LongType))
  )

  private def file(i: Int, schema: Schema): ContentFile = {
    def values[A](value: NestedField => A) = Some(schema.fields.map(c => c.id -> value(c)).toMap)
    def bound(column: NestedField): Literal =
      if (column.fieldType == StringType) StringLiteral(Vector.fill(16)(random.nextPrintableChar()).mkString)
      else LongLiteral(random.nextInt(1000000).toLong)
    TestTable.file(
      s"f$i",
      PartitionTuple.Empty,
      metrics = MetricMaps(
        columnSizes = values(_ => 1000L + random.nextInt(1000)),
        valueCounts = values(_ => 5000L),
        nullValueCounts = values(_ => random.nextInt(10).toLong),
        lowerBounds = values(c => SingleValue.encode(bound(c))),
        upperBounds = values(c => SingleValue.encode(bound(c)))
      )
    )
  }

  private def leafBytes(t: TestTable): Vector[Long] =
    t.files.fold(Vector.empty[Long])(_.parts.collect { case leaf: LeafPart => leaf.length })

  for ((count, files) <- Seq(10 -> 5000, 50 -> 1000))
    test(s"a commit that adds $files files with statistics of $count columns writes leaves of about the target size") {
      val schema = columns(count)
      val t = table(schema)
      t.commit(Vector.tabulate(files)(file(_, schema)))
      val sizes = leafBytes(t)
      assert(sizes.size > 2 && sizes.forall(s => s > target / 2 && s < target * 1.2), sizes)
    }

  private def runsOf(t: TestTable): Vector[Int] =
    new LeafRuns(RootSamples.columnsOf(t.metadata)).of(t.live, target.toLong)(identity).map(_.size)

  test("entries of a manifest in Avro, whose estimated size does not depend on their statistics, are measured") {
    val schema = columns(50)
    val t = new TestTable(schema, version = V2)
    t.commit(Vector.tabulate(600)(file(_, schema)))
    assert(runsOf(t).sum == 600 && runsOf(t).size >= 2)
  }

  test("the measured entries do not determine the size of others that have more statistics") {
    val schema = columns(50)
    val t = table(schema)
    def sparse(i: Int) = i >= 1000 && i < 2000
    val added =
      Vector.tabulate(3000)(i => if (sparse(i)) file(i, schema).copy(metrics = Metrics.Empty) else file(i, schema))
    val runs = new LeafRuns(RootSamples.columnsOf(t.metadata)).of(
      added.map(f => ManifestEntry(EntryStatus.Added, Some(1L), None, None, f)),
      target.toLong
    )(identity)
    assert(runs.size >= 6 && runs.size <= 9, runs.map(_.size))
  }
}
