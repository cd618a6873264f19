package iceberglite.spec.json

import org.scalacheck.Gen

import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.expr.ExpressionGenerators
import iceberglite.spec.metadata.{
  BlobMetadata,
  EncryptionKey,
  MetadataLogEntry,
  PartitionStatisticsFile,
  Snapshot,
  SnapshotLogEntry,
  SnapshotRef,
  StatisticsFile,
  TableMetadata
}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  NullOrder,
  PartitionField,
  PartitionSpec,
  SortDirection,
  SortField,
  SortOrder,
  Transform,
  Truncate,
  UnknownTransform,
  Void,
  Year
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.DefaultValue.{EmptyStruct, OfList, OfMap, OfPrimitive}
import iceberglite.spec.types.Type._

/** Generates random table metadata of the format versions 1 to 3. */
object MetadataGenerators {

  val text: Gen[String] = Gen.frequency(
    5 -> Gen.alphaNumStr.map(_.take(12)),
    2 -> Gen.oneOf("a.b", "snø", "日本", "😀", "quo\"te", "back\\slash", "line\nend", "", " ", "\u0000", "a`b")
  )

  private val primitives: Seq[PrimitiveType] = ExpressionGenerators.types ++ Seq(
    DecimalType(38, 38),
    FixedType(16),
    UnknownType,
    VariantType,
    GeometryType(DefaultCrs),
    GeometryType("srid:3857"),
    GeographyType(DefaultCrs, "karney"),
    GeographyType("EPSG:4326", DefaultEdgeAlgorithm)
  )

  private def fieldType(depth: Int): Gen[Type] = {
    val primitive = Gen.oneOf(primitives)
    if (depth == 0) primitive
    else {
      val nested = Gen.oneOf[Type](
        Gen.choose(0, 3).flatMap(Gen.listOfN(_, field(depth - 1))).map(fs => StructType(fs.toVector)),
        Gen.zip(fieldType(depth - 1), Gen.oneOf(true, false)).map { case (t, r) => ListType(0, t, r) },
        Gen.zip(fieldType(0), fieldType(depth - 1), Gen.oneOf(true, false))
          .map { case (k, v, r) => MapType(0, k, 0, v, r) }
      )
      Gen.frequency(3 -> primitive, 1 -> nested)
    }
  }

  private def default(t: Type): Gen[Option[DefaultValue]] = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => Gen.const(None)
    case DecimalType(38, 38) => Gen.const(None)
    case FixedType(16) => Gen.const(None)
    case p: PrimitiveType => Gen.option(ExpressionGenerators.value(p).map(OfPrimitive))
    case _: StructType => Gen.option(Gen.const(EmptyStruct))
    case list: ListType => Gen.option(parts(list.elementField, 3).map(OfList))
    case map: MapType => Gen.option(
        for (keys <- parts(map.keyField, 2); values <- parts(map.valueField, 2))
          yield OfMap(keys.flatten.zip(values))
      )
  }

  /** Generates up to `most` values of the list element, map key or map value `part`; no nulls if `part` is required. */
  private def parts(part: NestedField, most: Int): Gen[Vector[Option[DefaultValue]]] =
    Gen.choose(0, most).flatMap(Gen.listOfN(_, default(part.fieldType))).map { values =>
      if (part.required) values.filter(_.isDefined).toVector else values.toVector
    }

  private def field(depth: Int): Gen[NestedField] = for {
    t <- fieldType(depth)
    name <- text
    required <- Gen.oneOf(true, false)
    doc <- Gen.option(text)
    initial <- default(t)
    write <- default(t)
  } yield NestedField(0, name, t, required, doc, initial, write)

  def schema(id: Int): Gen[Schema] = for {
    primitive <- field(0)
    count <- Gen.choose(0, 4)
    nested <- Gen.listOfN(count, field(2))
    keyed <- Gen.oneOf(true, false)
  } yield {
    var last = 0
    val fresh = Schema.withFreshIds(primitive +: nested.toVector, () => { last += 1; last })
    Schema(id, fresh, if (keyed) Set(fresh.head.id) else Set.empty)
  }

  private val transform: Gen[Transform] = Gen.oneOf(
    Identity,
    Year,
    Month,
    Day,
    Hour,
    Void,
    Bucket(16),
    Truncate(3),
    UnknownTransform("zorder[3]")
  )

  private val sources: Gen[Vector[Int]] =
    Gen.frequency(9 -> Gen.choose(1, 9).map(Vector(_)), 1 -> Gen.const(Vector(1, 2)))

  /** Generates a partition spec whose field names are unique. */
  def spec(id: Int, part: Gen[(Vector[Int], Transform)]): Gen[PartitionSpec] =
    Gen.choose(0, 3).flatMap(Gen.listOfN(_, Gen.zip(part, text))).map { parts =>
      val fields = parts.zipWithIndex.map { case (((s, t), name), i) => PartitionField(s, 1000 + i, s"$name$i", t) }
      PartitionSpec(id, fields.toVector)
    }

  def order(id: Int, part: Gen[(Vector[Int], Transform)]): Gen[SortOrder] = {
    val field = Gen.zip(part, Gen.oneOf(SortDirection.all), Gen.oneOf(NullOrder.all))
      .map { case ((s, t), d, n) => SortField(s, t, d, n) }
    Gen.choose(1, 2).flatMap(Gen.listOfN(_, field)).map(fs => SortOrder(id, fs.toVector))
  }

  /** Generates the parts of a partition or sort field: source columns that may have been dropped, and a transform. */
  val anyPart: Gen[(Vector[Int], Transform)] = Gen.zip(sources, transform)

  /** Generates a source column of the schema, and a transform that supports its type. */
  private def partOf(schema: Schema): Gen[(Vector[Int], Transform)] =
    Gen.zip(Gen.oneOf(schema.fields.filter(_.fieldType.isInstanceOf[PrimitiveType])), transform).map {
      case (field, t) =>
        (Vector(field.id), if (t.canTransform(field.fieldType)) t else UnknownTransform("zorder[3]"))
    }

  val strings: Gen[Map[String, String]] =
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, Gen.zip(text, text))).map(_.toMap)

  private val long: Gen[Long] = Gen.oneOf(Gen.choose(0L, Long.MaxValue), Gen.oneOf(0L, 1L, Long.MaxValue, 1L << 53))

  def snapshot(id: Long, version: FormatVersion): Gen[Snapshot] = for {
    parent <- Gen.option(long)
    sequence <- Gen.choose(1L, Long.MaxValue)
    time <- long
    summary <- strings
    schemaId <- Gen.option(Gen.choose(0, 9))
    rows <- Gen.choose(0L, 1000000L)
    embedded <- Gen.oneOf(true, false)
    keyId <- Gen.option(text)
  } yield {
    val v3 = version == FormatVersion.V3
    val listed = version > FormatVersion.V1 || !embedded
    Snapshot(
      id,
      parent,
      if (version == FormatVersion.V1) 0 else sequence,
      time,
      if (listed) Some(s"/m/$id.avro") else None,
      if (listed) Vector.empty else Vector("/m/a.avro", "/m/b.avro"),
      summary,
      schemaId,
      if (v3) Some(rows) else None,
      if (v3) Some(rows) else None,
      if (v3) keyId else None
    )
  }

  def ref(ids: Seq[Long]): Gen[SnapshotRef] = for {
    id <- Gen.oneOf(ids)
    keep <- Gen.option(Gen.choose(1, Int.MaxValue))
    age <- Gen.option(Gen.choose(1L, Long.MaxValue))
    refAge <- Gen.option(Gen.choose(1L, Long.MaxValue))
    ref <- Gen.oneOf[SnapshotRef](Branch(id, keep, age, refAge), Tag(id, refAge))
  } yield ref

  val statistics: Gen[StatisticsFile] = for {
    id <- long
    key <- Gen.option(text)
    properties <- strings
    blobs <- Gen.choose(0, 2)
  } yield {
    val blob = BlobMetadata("apache-datasketches-theta-v1", id, 3, Vector(1, 2), properties)
    StatisticsFile(id, "/s.puffin", 100, 20, key, Vector.fill(blobs)(blob))
  }

  val table: Gen[TableMetadata] = for {
    version <- Gen.oneOf(FormatVersion.adopted)
    schemas <- Gen.zip(schema(0), schema(3))
    specs <- Gen.zip(spec(0, anyPart), spec(2, partOf(schemas._2)))
    orders <- Gen.zip(order(1, anyPart), order(2, partOf(schemas._2)))
    properties <- strings
    ids <- Gen.choose(0, 4).flatMap(Gen.listOfN(_, Gen.choose(1L, Long.MaxValue))).map(_.distinct)
    snapshots <- Gen.sequence[List[Snapshot], Snapshot](ids.map(snapshot(_, version)))
    refs <- if (ids.isEmpty) Gen.const(Map.empty[String, SnapshotRef])
    else Gen.listOfN(2, Gen.zip(text, ref(ids))).map(_.toMap)
    hasMain <- Gen.oneOf(true, false)
    files <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, statistics))
    times <- Gen.listOfN(4, Gen.choose(0L, 1L << 53)).map(_.sorted)
    row <- Gen.choose(2000000L, Long.MaxValue)
  } yield {
    val current = if (hasMain) ids.headOption else None
    TableMetadata(
      formatVersion = version,
      uuid = Some(SampleTables.Uuid),
      location = "s3://bucket/table",
      lastSequenceNumber = snapshots.map(_.sequenceNumber).foldLeft(0L)(_ max _),
      lastUpdatedMs = times.last,
      lastColumnId = 1000,
      schemas = Vector(schemas._1, schemas._2),
      currentSchemaId = 3,
      specs = Vector(specs._1, specs._2),
      defaultSpecId = 2,
      lastPartitionId = 1010,
      sortOrders = Vector(SortOrder.Unsorted, orders._1, orders._2),
      defaultSortOrderId = 2,
      properties = properties,
      currentSnapshotId = current,
      snapshots = snapshots.toVector,
      snapshotLog = ids.map(SnapshotLogEntry(times(2), _)).toVector,
      metadataLog = times.map(MetadataLogEntry(_, "/m/v1.metadata.json")).toVector,
      refs = (refs - Main) ++ current.map(Main -> Branch(_)),
      statistics = files.toVector,
      partitionStatistics = files.map(f => PartitionStatisticsFile(f.snapshotId, "/p.parquet", 7)).toVector,
      nextRowId = if (version == FormatVersion.V3) row else 0,
      encryptionKeys =
        if (version == FormatVersion.V3) Vector(EncryptionKey("k", "bWV0YQ==", Some("m"), properties)) else Vector.empty
    )
  }
}
