package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition._
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{FileChanges, PartitionSpecs, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/**
 * Tests that the statistics of expressions that another engine has written are kept by every commit, except bounds of
 * several types in one leaf.
 */
class OpaqueStatisticsSuite extends AnyFunSuite {
  private val decimal = DecimalLiteral(new java.math.BigDecimal("1.25"))

  /** Expressions with unknown transforms and one with a known transform, each with its bound in every file. */
  private val samples: Vector[(TableExpression, Literal)] = Vector(
    TableExpression(900, Vector(2), UnknownTransform("lower"), "lower_name", None) -> StringLiteral("abc"),
    TableExpression(901, Vector(1), UnknownTransform("quarter"), "quarter_id", None) -> IntLiteral(7),
    TableExpression(902, Vector(3), UnknownTransform("round"), "rounded", None) -> decimal,
    TableExpression(903, Vector(1), Bucket(8), "id_bucket", None) -> IntLiteral(3)
  )
  private val ids = samples.map(_._1.id).toSet

  private def expressionsOf(metadata: TableMetadata): Vector[TableExpression] =
    RootSamples.expressions(metadata) ++ samples.map(_._1)

  private def columnsOf(metadata: TableMetadata): StatsColumns =
    StatsColumns.of(metadata, PartitionSpecs.of(metadata, metadata.schema), expressionsOf(metadata))

  private def newTable(limits: RootLimits): RootTable =
    new RootTable(ManifestSamples.schema, limits = limits, expressions = expressionsOf)

  private def stats(value: Literal) =
    FieldStats(lower = Some(value), upper = Some(value), valueCount = Some(10L), nullCount = Some(0L))

  private val written: Map[Int, FieldStats] = samples.map { case (e, value) => e.id -> stats(value) }.toMap

  /**
   * Commits the root that another engine writes, with the given statistics of expressions of the files that the root
   * lists itself, and without statistics of expressions of leaves.
   */
  private def foreignCommit(table: RootTable)(statsOf: ContentEntry => Map[Int, FieldStats]): Unit = {
    val root = table.root.filter(_.isLive).map { e =>
      val own = if (e.content == EntryContent.Data) statsOf(e) else Map.empty
      e.copy(version = e.version.copy(status = Existing), stats = ContentStats(e.stats.byId -- ids ++ own))
    }
    val result = table.write(FileChanges(Vector.empty))
    val columns = columnsOf(table.testTable.metadata)
    table.io.replace(result.pointer, RootManifests.write(result.pointer, ManifestKind.Root, columns, root))
    table.testTable.adopt(result)
  }

  /** Returns the statistics of the expressions in the entry of each live data file, by the name of the file. */
  private def kept(table: RootTable): Map[String, Map[Int, FieldStats]] = table.files match {
    case root: RootFiles =>
      val inLeaves = root.leaves.filter(_.leaf.content == EntryContent.DataManifest).flatMap { leaf =>
        leaf.storedEntries(table.io).zipWithIndex
          .collect { case (e, i) if !leaf.vector.isDeleted(i.toLong) => e }.toVector
      }
      (root.root.filter(e => e.isLive && e.content == EntryContent.Data) ++ inLeaves)
        .map(e => e.location.split('/').last.stripSuffix(".parquet") -> e.stats.byId.filter(s => ids(s._1))).toMap
    case other => fail(s"$other is not a root")
  }

  private def rewriteManifests(table: RootTable): Unit = {
    val by = new RewriteManifests().rewriteOf(table.testTable.metadata)
    table.testTable.adopt(table.write(FileChanges(Vector.empty, mergesManifests = false, rewrite = Some(by))))
    table.check()
  }

  private def leaves(table: RootTable): Vector[ContentEntry] = table.root.filter(_.manifest.isDefined)

  test("statistics of expressions are kept in the root, in leaves, and in leaves that are merged or rewritten") {
    val table = newTable(RootLimits(maxInlineFiles = 2, maxDataFiles = 3, flushedShare = 3, mergeCount = 2))
    table.append("a", "b")
    foreignCommit(table)(_ => written)
    table.append("c")
    assert(kept(table)("a") == written && kept(table)("c").isEmpty && leaves(table).isEmpty)
    table.append("d")
    table.append("e")
    val Vector(flushed) = leaves(table)
    assert(flushed.recordCount == 3 && kept(table)("b") == written)
    table.remove("c")
    table.append("f")
    val Vector(folded) = leaves(table)
    assert(folded.recordCount == 2 && folded.stats.byId(901).lower.contains(IntLiteral(7)))
    assert(kept(table)("a") == written && kept(table)("b") == written)
    rewriteManifests(table)
    assert(leaves(table).map(_.recordCount) == Vector(5L) && kept(table)("b") == written)
    rewriteManifests(table)
    assert(kept(table)("a") == written && kept(table)("f").isEmpty)
  }

  /** A table with a leaf and two files in the root, of which other engines have written statistics of expressions. */
  private def withForeign(limits: RootLimits = RootLimits())(statsOf: Map[Int, FieldStats]): RootTable = {
    val table = newTable(limits.copy(maxInlineFiles = 2))
    table.append("x", "y", "z")
    table.append("a", "b")
    foreignCommit(table)(_ => statsOf)
    table
  }

  test("a rewrite of manifests moves the statistics of expressions from the root to a leaf") {
    Seq(RootLimits(), RootLimits(maxRewriteBytes = 1L)).foreach { limits =>
      val table = withForeign(limits)(written)
      (1 to 2).foreach { _ =>
        rewriteManifests(table)
        assert(table.root.forall(_.manifest.isDefined) && kept(table).size == 5)
        assert(kept(table).filter(_._2.nonEmpty) == Map("a" -> written, "b" -> written))
      }
    }
  }

  test("statistics of expressions are not metrics of a file") {
    val table = withForeign()(written)
    (1 to 2).foreach { _ =>
      table.live.foreach(e => assert(e.file.metrics.lowerBounds.isEmpty && e.file.metrics.valueCounts.isEmpty))
      rewriteManifests(table)
    }
  }

  test("the files of a leaf keep only the counts of an expression if its bounds have different types in them") {
    val table = withForeign()(Map(901 -> stats(IntLiteral(7))))
    rewriteManifests(table)
    table.append("c", "d")
    foreignCommit(table)(_ => Map(901 -> stats(StringLiteral("2026Q1"))))
    assert(kept(table)("d")(901) == stats(StringLiteral("2026Q1")) && kept(table)("a")(901) == stats(IntLiteral(7)))
    rewriteManifests(table)
    val counts = FieldStats(valueCount = Some(10L), nullCount = Some(0L))
    assert(Seq("a", "b", "d").map(name => kept(table)(name)(901)) == Seq.fill(3)(counts))
  }

  test("the partition values of an unknown transform keep the type that they have in the files") {
    val field = PartitionField(1, 1000, "quarter", UnknownTransform("quarter"))
    val limits = RootLimits(maxInlineFiles = 1)
    val table = new RootTable(ManifestSamples.schema, Vector(PartitionSpec(0, Vector(field))), limits)
    val partition = PartitionTuple(Vector(Some(IntLiteral(7))))
    table.commit(Seq(TestTable.file("a", partition), TestTable.file("b", PartitionTuple(Vector(None)))))
    assert(table.live.map(_.file.partition) == Vector(partition, PartitionTuple(Vector(None))))
    table.commit(Seq(TestTable.file("c", partition)))
    rewriteManifests(table)
    assert(leaves(table).map(_.recordCount) == Vector(3L))
    assert(table.live.map(_.file.partition).count(_ == partition) == 2)
  }

  private def quarterOf(value: Option[Literal]): PartitionTuple = PartitionTuple(Vector(value))

  /** A table that is partitioned by an unknown transform, with a leaf for each of the values, and the given limits. */
  private def byQuarter(limits: RootLimits, values: Literal*): RootTable = {
    val field = PartitionField(1, 1000, "quarter", UnknownTransform("quarter"))
    val spec = PartitionSpec(0, Vector(field))
    val table = new RootTable(ManifestSamples.schema, Vector(spec), limits.copy(maxInlineFiles = 1))
    values.zipWithIndex.foreach { case (value, i) =>
      table.commit(Seq("a", "b").map(name => TestTable.file(s"$name$i", quarterOf(Some(value)))))
    }
    table
  }

  private def quarters(table: RootTable): Vector[Option[Literal]] =
    table.live.sortBy(e => TestTable.nameOf(e.file)).map(_.file.partition.values.head)

  private val (number, text) = (IntLiteral(7), StringLiteral("2026Q1"))
  private val both: Vector[Option[Literal]] = Vector(Some(number), Some(text), Some(number), Some(text))

  test("partition values of several types are kept in leaves, which are merged and rewritten by type") {
    Seq(RootLimits(mergeCount = 2), RootLimits()).foreach { limits =>
      val table = byQuarter(limits, number, text)
      assert(quarters(table) == both)
      table.commit(Seq(TestTable.file("x", quarterOf(Some(number)))))
      assert(quarters(table) == both :+ Some(number) && leaves(table).map(_.recordCount) == Vector(2L, 2L))
      rewriteManifests(table)
      assert(quarters(table) == both :+ Some(number))
      assert(leaves(table).map(_.recordCount).sorted == Vector(2L, 3L))
    }
  }

  test("entries with partition values of several types are in different runs, also if a sample of them is encoded") {
    val table = byQuarter(RootLimits(), number, text)
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    val runs = new LeafRuns(columns).of(table.live.toVector, target = 1L)(identity)
    assert(runs.flatten.size == 4 && runs.forall(_.map(_.file.partition).distinct.size == 1))
  }

  test("files in the root keep their partition values, although those in a leaf have another type") {
    val table = byQuarter(RootLimits(), number)
    table.commit(Seq(TestTable.file("x", quarterOf(Some(text)))))
    assert(quarters(table) == Vector(Some(number), Some(number), Some(text)))
    table.commit(Seq.empty)
    assert(quarters(table) == Vector(Some(number), Some(number), Some(text)))
  }

  test("a root cannot list files whose partition values have several types") {
    val table = byQuarter(RootLimits())
    table.commit(Seq(TestTable.file("x", quarterOf(Some(number)))))
    val error = intercept[ValidationFailed](table.commit(Seq(TestTable.file("y", quarterOf(Some(text))))))
    assert(Seq("quarter", "int", "string", "root-").forall(error.message.contains))
    assert(quarters(table) == Vector(Some(number)))
  }
}
