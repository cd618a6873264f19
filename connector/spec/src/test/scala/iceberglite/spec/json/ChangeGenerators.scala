package iceberglite.spec.json

import java.nio.ByteBuffer
import java.util.UUID

import org.scalacheck.Gen

import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.expr.{Expression, ExpressionGenerators, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics, ScanTask}
import iceberglite.spec.json.MetadataGenerators._
import iceberglite.spec.metadata.{EncryptionKey, PartitionStatisticsFile}
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  PartitionField,
  PartitionSpec,
  PartitionTuple,
  SortOrder,
  Truncate,
  Void,
  Year
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.update.{MetadataUpdate, Requirement, ViewUpdate}
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.Requirement._
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.{ViewLogEntry, ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql

/** Generates random metadata updates, requirements, views, files and tasks. */
object ChangeGenerators {
  private val uuid: Gen[UUID] = Gen.uuid
  private val id: Gen[Int] = Gen.oneOf(Gen.const(-1), Gen.choose(0, 9), Gen.const(Int.MaxValue))
  private val snapshotId: Gen[Long] = Gen.choose(1L, Long.MaxValue)
  private val ids: Gen[Set[Int]] = Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.choose(0, 99))).map(_.toSet)
  private val version: Gen[FormatVersion] = Gen.oneOf(FormatVersion.adopted)

  private val shared: Gen[MetadataUpdate with ViewUpdate] = Gen.oneOf(
    uuid.map(AssignUuid),
    version.map(UpgradeFormatVersion),
    Gen.choose(0, 9).flatMap(schema).map(s => AddSchema(s, s.highestFieldId)),
    text.map(SetLocation),
    strings.map(SetProperties),
    Gen.listOf(text).map(keys => RemoveProperties(keys.toSet))
  )

  /**
   * Generates updates. `anyPart` generates a part of a partition spec or sort order: source columns and a transform.
   */
  val update: Gen[MetadataUpdate] = {
    val structure = Gen.oneOf[MetadataUpdate](
      id.map(SetCurrentSchema),
      Gen.choose(0, 9).flatMap(spec(_, anyPart)).map(AddPartitionSpec),
      id.map(SetDefaultSpec),
      ids.map(RemovePartitionSpecs),
      ids.map(RemoveSchemas),
      Gen.choose(1, 9).flatMap(order(_, anyPart)).map(AddSortOrder),
      Gen.const(AddSortOrder(SortOrder.Unsorted)),
      id.map(SetDefaultSortOrder)
    )
    val history = Gen.oneOf[MetadataUpdate](
      Gen.zip(snapshotId, version).flatMap { case (i, v) => snapshot(i, v) }.map(AddSnapshot),
      Gen.listOf(snapshotId).map(s => RemoveSnapshots(s.toSet)),
      Gen.zip(text, snapshotId.flatMap(i => ref(Seq(i)))).map { case (name, r) => SetSnapshotRef(s"r$name", r) },
      text.map(RemoveSnapshotRef)
    )
    val files = Gen.oneOf[MetadataUpdate](
      statistics.map(SetStatistics),
      snapshotId.map(RemoveStatistics),
      snapshotId.map(i => SetPartitionStatistics(PartitionStatisticsFile(i, "/p.parquet", 7))),
      snapshotId.map(RemovePartitionStatistics),
      Gen.zip(text, Gen.option(text), strings).map { case (k, by, p) =>
        AddEncryptionKey(EncryptionKey(k, "bWV0YQ==", by, p))
      },
      text.map(RemoveEncryptionKey)
    )
    Gen.oneOf(shared, structure, history, files)
  }

  val requirement: Gen[Requirement] = Gen.oneOf(
    Gen.const(AssertCreate),
    uuid.map(AssertTableUuid),
    Gen.zip(text, Gen.option(snapshotId)).map { case (r, s) => AssertRefSnapshotId(r, s) },
    id.map(AssertLastAssignedFieldId),
    id.map(AssertCurrentSchemaId),
    id.map(AssertLastAssignedPartitionId),
    id.map(AssertDefaultSpecId),
    id.map(AssertDefaultSortOrderId)
  )

  private def viewVersion(versionId: Int, schemaId: Int): Gen[ViewVersion] =
    for {
      time <- Gen.choose(0L, 1L << 53)
      summary <- strings
      queries <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, text))
      catalog <- Gen.option(text)
      namespace <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, text.map(_.replace("\u0000", ""))))
      parent <- Gen.option(Gen.choose(ViewVersion.NoParent, versionId))
      properties <- strings
    } yield ViewVersion(
      versionId,
      schemaId,
      time,
      summary,
      queries.zipWithIndex.map { case (sql, i) => Sql(sql, s"dialect$i") }.toVector,
      catalog,
      namespace.toVector,
      parent,
      properties
    )

  val view: Gen[ViewMetadata] =
    for {
      schemas <- Gen.zip(schema(0), schema(4))
      count <- Gen.choose(1, 4)
      versions <- Gen.sequence[Vector[ViewVersion], ViewVersion](
        (1 to count).map(i => Gen.oneOf(0, 4).flatMap(viewVersion(i, _)))
      )
      current <- Gen.choose(1, count)
      properties <- strings
    } yield ViewMetadata(
      Some(SampleTables.Uuid),
      "s3://bucket/view",
      Vector(schemas._1, schemas._2),
      current,
      versions,
      versions.map(v => ViewLogEntry(v.timestampMs, v.versionId)),
      properties
    )

  val viewUpdate: Gen[ViewUpdate] = Gen.oneOf[ViewUpdate](
    shared,
    Gen.zip(id, id).flatMap { case (v, s) => viewVersion(v, s) }.map(AddViewVersion),
    id.map(SetCurrentViewVersion)
  )

  /**
   * Returns the expression as it is read from JSON, in which columns are identified by their names instead of their
   * field ids.
   */
  def named(e: Expression): Expression = e match {
    case AlwaysTrue | AlwaysFalse => e
    case And(l, r) => And(named(l), named(r))
    case Or(l, r) => Or(named(l), named(r))
    case Not(c) => Not(named(c))
    case IsNull(t) => IsNull(name(t))
    case NotNull(t) => NotNull(name(t))
    case IsNan(t) => IsNan(name(t))
    case NotNan(t) => NotNan(name(t))
    case LessThan(t, v) => LessThan(name(t), v)
    case LessThanOrEqual(t, v) => LessThanOrEqual(name(t), v)
    case GreaterThan(t, v) => GreaterThan(name(t), v)
    case GreaterThanOrEqual(t, v) => GreaterThanOrEqual(name(t), v)
    case Equal(t, v) => Equal(name(t), v)
    case NotEqual(t, v) => NotEqual(name(t), v)
    case StartsWith(t, p) => StartsWith(name(t), p)
    case NotStartsWith(t, p) => NotStartsWith(name(t), p)
    case In(t, vs) => In(name(t), vs)
    case NotIn(t, vs) => NotIn(name(t), vs)
    case BoxIntersects(t, box) => BoxIntersects(name(t), box)
    case BoxDisjoint(t, box) => BoxDisjoint(name(t), box)
  }

  private def name(term: Term): Term = term match {
    case Term.Bound(_, name) => Term.Named(name)
    case Term.Transformed(t, of) => Term.Transformed(t, name(of))
    case part: Term.Part => part.copy(of = name(part.of))
    case named: Term.Named => named
  }

  /** A schema with one column for each type. */
  val columns: Schema = Schema(0, ExpressionGenerators.columns)

  val condition: Gen[Expression] =
    ExpressionGenerators.condition(columns.fields, Seq(Bucket(16), Truncate(2), Year, Month, Day, Hour)).map(named)

  /** A partition spec with an identity field for each column, and with the transforms void, day and bucket. */
  val partitioning: PartitionSpec = PartitionSpec(
    3,
    columns.fields.map(f => PartitionField(f.id, 999 + f.id, s"p${f.id}", Identity)) ++ Vector(
      PartitionField(1, 1100, "gone", Void),
      PartitionField(7, 1101, "day", Day),
      PartitionField(13, 1102, "bucket", Bucket(16))
    )
  )

  private val tuple: Gen[PartitionTuple] = Gen.sequence[Vector[Option[Literal]], Option[Literal]](
    partitioning.partitionType(columns).fields.map { f =>
      if (f.name == "gone") Gen.const(None) else ExpressionGenerators.nullable(f.fieldType.asInstanceOf[PrimitiveType])
    }
  ).map(PartitionTuple(_))

  private val counts: Gen[Option[Map[Int, Long]]] =
    Gen.option(Gen.mapOf(Gen.zip(Gen.choose(1, 9), Gen.choose(0L, Long.MaxValue))))

  private val bytes: Gen[ByteBuffer] =
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, Gen.choose(-128, 127))).map(b => ByteBuffer.wrap(b.map(_.toByte).toArray))

  private val bounds: Gen[Option[Map[Int, ByteBuffer]]] = Gen.option(Gen.mapOf(Gen.zip(Gen.choose(1, 9), bytes)))

  private val metrics: Gen[Metrics] = for {
    sizes <- counts
    values <- counts
    nulls <- counts
    nans <- counts
    lower <- bounds
    upper <- bounds
  } yield MetricMaps(sizes, values, nulls, nans, lower, upper)

  def file(contents: Seq[Content]): Gen[ContentFile] =
    for {
      content <- Gen.oneOf(contents)
      format <- Gen.oneOf(FileFormat.all)
      partition <- tuple
      found <- metrics
      key <- Gen.option(bytes)
      splits <- Gen.listOf(Gen.choose(0L, 1023L)).map(_.distinct.sorted)
      order <- Gen.option(Gen.choose(0, 9))
      row <- Gen.option(Gen.choose(0L, Long.MaxValue))
      position <- Gen.option(Gen.choose(0L, Long.MaxValue))
    } yield ContentFile(
      content,
      s"s3://b/${format.name}",
      format,
      partitioning.specId,
      partition,
      7,
      1024,
      found,
      key,
      splits.toVector,
      if (content == Content.EqualityDeletes) Vector(1, 2) else Vector.empty,
      order,
      if (content == Content.Data) row else None,
      if (content == Content.PositionDeletes) position.map(p => s"s3://b/$p") else None,
      if (content == Content.PositionDeletes) position else None,
      if (content == Content.PositionDeletes) position else None
    )

  val task: Gen[ScanTask] = for {
    data <- file(Seq(Content.Data))
    deletes <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, file(Seq(Content.PositionDeletes, Content.EqualityDeletes))))
    residual <- condition
    start <- Gen.choose(0L, 9L)
  } yield ScanTask(columns, partitioning, data, deletes.toVector, residual, start, 1024 - start)
}
