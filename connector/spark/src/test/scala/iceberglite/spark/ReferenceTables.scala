package iceberglite.spark

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.functions.{ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{
  ArrayType,
  BinaryType => SparkBinary,
  BooleanType => SparkBoolean,
  ByteType,
  CalendarIntervalType,
  CharType,
  DataType,
  DateType => SparkDate,
  DayTimeIntervalType,
  DecimalType => SparkDecimal,
  DoubleType => SparkDouble,
  FloatType => SparkFloat,
  IntegerType,
  LongType => SparkLong,
  MapType => SparkMap,
  NullType,
  ShortType,
  StringType => SparkString,
  StructType => SparkStruct,
  TimestampNTZType,
  TimestampType => SparkTimestamp,
  VarcharType,
  YearMonthIntervalType
}

import iceberglite.catalog.{CatalogProperties, ForeignCatalogProperties}
import iceberglite.inspect.{MetadataTable, MetadataTables}
import iceberglite.spark.conf.{
  DeleteCacheOptions,
  ForeignOptions,
  ReadOptions,
  SparkOption,
  StatementOptions,
  WriteOptions
}
import iceberglite.spark.convert.{PartitionTerm, SparkTypes}
import iceberglite.spark.error.ReferenceErrors
import iceberglite.spark.function.Functions
import iceberglite.spark.read.RowMetadataColumns
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, Transforms, Void}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._
import iceberglite.table.KnownProperties
import iceberglite.tree.{CountingMemoryIO, TestTable}

/** The tables of `docs/reference.md`, as lines of Markdown, rendered from the registries that the code uses. */
private[iceberglite] object ReferenceTables {
  private val options: Seq[SparkOption[_]] = ReadOptions.all ++ WriteOptions.all ++ StatementOptions.statementOnly

  def all: Seq[(String, Seq[String])] = Seq(
    "read-options" -> optionTable(ReadOptions.all),
    "executor-settings" -> executorSettings,
    "write-options" -> optionTable(WriteOptions.all),
    "statement-options" -> optionTable(StatementOptions.statementOnly),
    "session-settings" -> sessionSettings,
    "table-properties" -> tableProperties,
    "catalog-properties" -> catalogProperties,
    "foreign-settings" -> foreignSettings,
    "metadata-tables" -> metadataTables,
    "metadata-columns" -> metadataColumns,
    "functions" -> functions,
    "transforms" -> transforms,
    "types-in-spark" -> typesInSpark,
    "types-of-spark" -> typesOfSpark,
    "errors" -> errors
  )

  private def table(header: String*)(rows: Seq[Seq[String]]): Seq[String] =
    (header +: header.map(_ => "---") +: rows.map(_.map(cell))).map(_.mkString("| ", " | ", " |"))

  /** Escapes text that Markdown would interpret as HTML, except in code spans. */
  private[iceberglite] def cell(text: String): String = {
    val parts = text.split("`", -1).toSeq.zipWithIndex
    val escaped = parts.map { case (part, i) => if (i % 2 == 1) part else part.replace("<", "&lt;") }
    escaped.mkString("`").replace("|", "\\|")
  }

  private def code(text: String): String = s"`$text`"

  private def optionTable(options: Seq[SparkOption[_]]): Seq[String] =
    table("option", "value", "default", "table property", "description")(options.map { o =>
      Seq(code(o.key), values(o.expected), default(defaultOf(o), o.expected), o.property.fold("")(code), o.doc)
    })

  /** Returns the default of the table property as users write it, or a description if the default is computed. */
  private def defaultOf(o: SparkOption[_]): String = TableProperty.all
    .find(p => o.default.isDefined && o.property.contains(p.key)).flatMap(_.defaultText).getOrElse(o.defaultDoc)

  private def errors: Seq[String] = table("condition", "SQL state", "message", "action")(
    ReferenceErrors.rows.map(r => Seq(code(r.condition), code(r.sqlState), r.message, r.action))
  )

  private def executorSettings: Seq[String] = table("setting", "value", "default", "description")(
    DeleteCacheOptions.all.map { o =>
      Seq(code(o.sessionKey.get), values(o.expected), default(o.defaultDoc, o.expected), o.doc)
    }
  )

  private def sessionSettings: Seq[String] = table("setting", "option")(
    options.flatMap(o => o.sessionKey.map(key => Seq(code(key), code(o.key)))).sortBy(_.head)
  )

  /**
   * Returns the table of all table properties. If an option overrides a property, the table shows the default of the
   * option.
   */
  private def tableProperties: Seq[String] = {
    val registeredProperties = TableProperty.all.map { p =>
      val fallback = options.find(_.property.contains(p.key)).map(defaultOf).orElse(p.defaultText)
      Seq(code(p.key), values(p.expected), default(fallback.getOrElse(NotSet), p.expected), p.doc)
    }
    val propertiesOfOptions = for {
      o <- options
      key <- o.property if !TableProperty.all.exists(_.key == key)
    } yield Seq(code(key), values(o.expected), default(o.defaultDoc, o.expected), o.doc)
    val documented = (registeredProperties ++ propertiesOfOptions).map(_.head).toSet
    val propertiesOfEngines = KnownProperties.all.filterNot(p => documented(code(p.key))).map { p =>
      val expected = if (p.default.exists(Set("true", "false"))) "true or false" else "a positive number of bytes"
      Seq(code(p.key), expected, default(p.default.getOrElse(NotSet), expected), p.doc)
    }
    table("property", "value", "default", "description")(
      registeredProperties ++ propertiesOfOptions ++ propertiesOfEngines
    )
  }

  private def catalogProperties: Seq[String] = table("property", "default", "description")(
    CatalogProperties.all.map(p => Seq(code(p.key), p.default.getOrElse(NotSet), p.doc)) ++
      CatalogProperties.prefixes.map(p => Seq(code(p.prefix + "*"), "", p.doc))
  )

  private def foreignSettings: Seq[String] = {
    val settingsByKind = Seq(
      "read option" -> ForeignOptions.read,
      "write option" -> ForeignOptions.write,
      "configuration" -> ForeignOptions.session,
      "system property" -> ForeignOptions.system,
      "Hadoop setting" -> ForeignOptions.hadoop,
      "table property" -> ForeignOptions.table
    ).flatMap { case (kind, settings) => settings.all.map(kind -> _) }
    val catalogSettings = ForeignCatalogProperties.all.map { case (kind, setting) =>
      s"catalog property${kind.fold("")(k => s", type $k")}" -> setting
    }
    val all = settingsByKind ++ catalogSettings
    table("kind", "key", "effect", "unless the value is", "reason")(all.map { case (kind, s) =>
      Seq(kind, code(s.key), s.effect.toString.toLowerCase, s.harmless.toSeq.sorted.map(code).mkString(", "), s.reason)
    })
  }

  private val NotSet = "not set"
  private val Mega = 1L << 20

  private def values(expected: String): String = expected.stripPrefix("It must be ")

  private def default(text: String, expected: String): String = Try(text.toLong).toOption match {
    case Some(Long.MaxValue) => "unlimited"
    case Some(n) if expected.contains("bytes") && n >= Mega && n % Mega == 0 => s"$n (${n / Mega} MB)"
    case _ => if (text == "None") NotSet else text
  }

  /** Returns a table with one column, by which it is partitioned. */
  private def sample: TestTable = new TestTable(
    Schema(0, Vector(NestedField.optional(1, "c", LongType))),
    Vector(PartitionSpec(0, Vector(PartitionField(1, PartitionSpec.FirstFieldId, "c", Identity)))),
    io = new CountingMemoryIO
  )

  /** Returns a section for each group of metadata tables that have the same columns. */
  private def metadataTables: Seq[String] = {
    val columns = MetadataTables.all.map(t => t -> columnsOf(t))
    columns.map(_._2).distinct.flatMap { groupColumns =>
      val tables = columns.filter(_._2 == groupColumns).map(_._1)
      val (snapshotTables, historyTables) = tables.partition(_.showsOneSnapshot)
      Seq(s"### ${tables.map(t => code(t.name)).mkString(", ")}", "") ++
        scope(tables, snapshotTables, "one snapshot; time travel is supported") ++
        scope(tables, historyTables, "the whole table; time travel is not supported") ++
        Seq("") ++ columnTable(groupColumns) ++ Seq("")
    }.dropRight(1)
  }

  private def scope(all: Seq[MetadataTable], inScope: Seq[MetadataTable], content: String): Option[String] =
    if (inScope.isEmpty) None
    else if (all.size == 1) Some(s"Content: $content.")
    else Some(s"- Content of ${inScope.map(t => code(t.name)).mkString(", ")}: $content")

  private def columnTable(rows: Seq[Seq[String]]): Seq[String] =
    if (rows.forall(_.last.isEmpty)) table("column", "type")(rows.map(_.init))
    else table("column", "type", "description")(rows)

  private def columnsOf(t: MetadataTable): Seq[Seq[String]] = rows(t.schema(sample.table).fields, "")

  /** Returns a row for each column; fields of structs have their full names. */
  private def rows(fields: Vector[NestedField], prefix: String): Seq[Seq[String]] = fields.flatMap { f =>
    f.fieldType match {
      case struct: StructType => rows(struct.fields, s"$prefix${f.name}.")
      case other =>
        Seq(Seq(code(prefix + f.name), code(SparkTypes.toSpark(other).catalogString), f.doc.getOrElse("")))
    }
  }

  private def metadataColumns: Seq[String] = table("column", "type", "description")(
    RowMetadataColumns.of(sample.metadata).toSeq.map(c => Seq(code(c.name), code(c.dataType.catalogString), c.comment))
  )

  private val struct = SparkStruct.fromDDL("a INT")

  private val sparkTypes: Seq[DataType] = Seq(
    SparkBoolean,
    ByteType,
    ShortType,
    IntegerType,
    SparkLong,
    SparkFloat,
    SparkDouble,
    SparkDecimal(9, 2),
    SparkDate,
    SparkTimestamp,
    TimestampNTZType,
    SparkString,
    CharType(10),
    VarcharType(10),
    SparkBinary,
    struct,
    ArrayType(IntegerType),
    SparkMap(SparkString, IntegerType),
    NullType,
    DayTimeIntervalType(),
    YearMonthIntervalType(),
    CalendarIntervalType
  )

  private def typesOfSpark: Seq[String] = table("Spark type", "Iceberg type")(sparkTypes.map { t =>
    Seq(code(t.catalogString), Try(code(SparkTypes.fromSpark(t, "c").toString)).getOrElse("not supported"))
  })

  private val primitives: Seq[PrimitiveType] = Seq(
    BooleanType,
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    TimestampNsType,
    TimestampTzNsType,
    StringType,
    UuidType,
    FixedType(16),
    BinaryType,
    UnknownType,
    VariantType,
    GeometryType(DefaultCrs),
    GeographyType(DefaultCrs, DefaultEdgeAlgorithm)
  )

  private def typesInSpark: Seq[String] = table("Iceberg type", "from version", "Spark type")(primitives.map { t =>
    val inSpark = Try(code(SparkTypes.toSpark(t).catalogString)).getOrElse("not supported")
    Seq(code(t.toString), minVersion(t).toString, inSpark)
  })

  private def transforms: Seq[String] =
    table("in SQL", "in metadata", "source types", "partition value")(Transforms.all.map { family =>
      val transform = Seq(family.name, s"${family.name}[16]").flatMap(family.parse(_)).head
      val sources = primitives.filter(transform.canTransform)
      val results = sources.map(t => t.toString -> transform.resultType(t).toString)
      val sql = if (transform == Void) "" else code(PartitionTerm(Vector("c"), transform).sql)
      val sourceTypes = if (sources.size == primitives.size) "any" else sources.map(nameOf).mkString(", ")
      Seq(sql, code(transform.name), sourceTypes, resultOf(results))
    })

  /** @param results the result types by the type of the argument */
  private def resultOf(results: Seq[(String, String)]): String =
    if (results.map(_._2).distinct.size <= 1) results.headOption.fold("")(_._2)
    else {
      val converted = results.distinct.filter { case (source, result) => source != result }
      val descriptions = converted.map(_._2).distinct.map { result =>
        s"$result for ${converted.filter(_._2 == result).map(_._1).mkString(" and ")}"
      }
      if (converted.isEmpty) "the same type" else (descriptions :+ "otherwise the type of the argument").mkString(", ")
    }

  /** Returns the name of the type without its parameters. */
  private def nameOf(t: PrimitiveType): String = t.toString.takeWhile(c => c.isLetter || c == '_')

  private def functions: Seq[String] =
    table("function", "argument types", "result", "description")(Functions.all.map { f =>
      val bound = sparkTypes.flatMap(t => Seq(Seq(t), Seq(IntegerType, t)).flatMap(bind(f, _)).map(t -> _))
      val results = bound.map { case (t, b) => t.catalogString -> b.resultType.catalogString } ++
        bind(f, Nil).map(b => "" -> b.resultType.catalogString)
      val sources = bound.map(_._1.catalogString.takeWhile(_ != '(')).distinct.mkString(", ")
      val callAndText = f.description.split(" - ", 2)
      val arguments = if (results.isEmpty) code(callAndText.head) else if (sources.isEmpty) "none" else sources
      val result = if (results.isEmpty) resultOfSampleCalls(f) else resultOf(results)
      Seq(code(f.name), arguments, result, callAndText.last)
    })

  /** Returns the result type of a function whose arguments the search in [[functions]] does not find. */
  private def resultOfSampleCalls(f: UnboundFunction): String =
    Seq(Seq.fill(2)(SparkBinary), Seq.fill(4)(SparkDouble)).flatMap(bind(f, _)).headOption
      .fold("string, or the given type")(_.resultType.catalogString)

  /** Binds a function in a session with the SQL extensions, which some functions need. */
  private def bind(f: UnboundFunction, arguments: Seq[DataType]): Option[ScalarFunction[_]] = {
    SparkSession.setActiveSession(SharedSession.liteExtensions)
    Try(f.bind(arguments.zipWithIndex.foldLeft(new SparkStruct) { case (s, (t, i)) => s.add(s"a$i", t) })).toOption
      .collect { case scalar: ScalarFunction[_] => scalar }
  }
}
