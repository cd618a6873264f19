package iceberglite.scan

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.conformance.StatisticsRules
import iceberglite.data.{Record, RecordGenerators, RecordValues}
import iceberglite.maintenance.{ComputeBloomIndex, ComputeTableStatistics, FileFilterJob, FileFilters}
import iceberglite.puffin.BloomFilter
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Term
import iceberglite.spec.expr.Expression.{And, Equal, GreaterThan, In, IsNull, Not, Or}
import iceberglite.spec.file.{ContentFile, FileFormat, Metrics}
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._
import iceberglite.table.{SnapshotTarget, TestTables}
import iceberglite.table.action.{FastAppend, RemoveFiles, SetRef, UpdateProperties, UpdateSchema}

/** Tests that the Bloom index skips files without a key, and that it never skips a file with a key. */
class BloomIndexSuite extends AnyFunSuite with BloomIndexFixture {
  private def overwrite(t: Indexed, path: String, bytes: Array[Byte]): Unit = {
    t.actions.store.delete(path)
    t.actions.store.write(path, bytes)
  }

  private val indexable: Vector[PrimitiveType] = Vector(
    IntType,
    LongType,
    DecimalType(9, 2),
    DecimalType(18, 0),
    DecimalType(38, 10),
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    TimestampNsType,
    TimestampTzNsType,
    StringType,
    UuidType,
    FixedType(7),
    BinaryType
  )

  /** ORC files cannot store timestamps in the last second before 1970. */
  private def isStorable(format: FileFormat, schema: Schema, row: Record): Boolean =
    format != FileFormat.Orc || schema.fields.indices.forall { i =>
      (schema.fields(i).fieldType, row(i)) match {
        case (TimestampType | TimestampTzType, v: java.lang.Long) => v >= 0 || v < -1000000L
        case (TimestampNsType | TimestampTzNsType, v: java.lang.Long) => v >= 0 || v < -1000000000L
        case _ => true
      }
    }

  for (format <- Seq(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro))
    test(s"no value of any type is lost in files of format $format, and files without a value are skipped") {
      val schema = RecordGenerators.flat(indexable)
      val names = schema.fields.map(_.name)
      (0 until Fuzz.rounds(16, least = 2)).foreach { round =>
        val seed = Fuzz.seed + round
        val random = new Random(seed)
        val t = new Indexed(schema.fields, names.mkString(","), FormatVersion.V3)
        val records = RecordGenerators.records(t.table.schema).map(_.filter(isStorable(format, t.table.schema, _)))
        val generated = Gen.listOfN(4, records).pureApply(Gen.Parameters.default, Seed(seed))
        val files = generated.map(rows => t.write(rows, format) -> rows)
        t.actions.append(files.map(_._1): _*)
        t.index()
        var skipped = 0
        for (
          (file, rows) <- files; row <- rows; (field, i) <- t.table.schema.fields.zipWithIndex;
          if random.nextInt(8) == 0
        )
          Option(row(i)).flatMap(RecordValues.literal(_, field.fieldType.asInstanceOf[PrimitiveType])).foreach {
            value =>
              val found = t.plan(Equal(Term.Named(field.name), value))
              assert(found.contains(file.path), s"$field = $value, seed $seed")
              skipped += files.size - found.size
          }
        assert(skipped > 0)
      }
    }

  test("filters with AND, OR, IN and other predicates skip only files without a matching row") {
    val t = new Indexed(Vector(id, name), "id,name")
    val Vector(a, b, c) = Vector(t.ids(1, 10), t.ids(2, 20), t.ids(3, 30))
    t.actions.append(a, b, c)
    t.index()
    def paths(files: ContentFile*) = files.map(_.path).toVector
    def named(value: String) = Equal(Term.Named("name"), StringLiteral(value))
    def in(values: Long*) = In(Term.Named("id"), values.map(LongLiteral(_): Literal).toSet)
    assert(t.plan(equal(20)) == paths(b) && t.plan(equal(7)).isEmpty)
    assert(t.plan(Or(equal(1), named("n30"))) == paths(a, c) && t.plan(And(equal(1), named("n30"))).isEmpty)
    assert(t.plan(in(1, 2, 77)) == paths(a, b) && t.plan(And(in(1, 2), named("n20"))) == paths(b))
    assert(t.plan(Not(equal(20))) == paths(a, b, c) && t.plan(Not(in(1, 2, 3))) == paths(a, b, c))
    assert(t.plan(GreaterThan(Term.Named("id"), LongLiteral(5))) == paths(a, b, c))
    assert(t.plan(Or(equal(1), IsNull(Term.Named("name")))) == paths(a, b, c))
    assert(t.plan(in(100L to 200L: _*)) == paths(a, b, c), "the filter has more values than the index is used for")
  }

  test(
    "no row is lost in files added after the index, in old snapshots, and in branches, and deleted files stay deleted"
  ) {
    val t = new Indexed(Vector(id, name), "id")
    val Vector(a, b, c, d) = Vector(t.ids(1), t.ids(2), t.ids(3), t.ids(1, 4))
    t.actions.append(a, b)
    val first = t.table.currentSnapshot
    t.index()
    t.actions.append(c)
    assert(t.plan(equal(2)) == Vector(c.path, b.path) && t.plan(equal(3)) == Vector(c.path))
    t.index()
    t.actions.commit(new RemoveFiles(Set(b.path)))
    assert(
      t.plan(equal(2)).isEmpty && t.plan(equal(2), first) == Vector(b.path) && t.plan(equal(1), first) == Vector(a.path)
    )
    val branch = SnapshotTarget.Branch("work")
    t.actions.commit(new SetRef("work", SnapshotRef.Branch(t.table.currentSnapshot.get.snapshotId)))
    t.actions.commit(new FastAppend(Vector(d), branch))
    def head = branch.head(t.table.metadata)
    assert(t.plan(equal(1), head).toSet == Set(a.path, d.path) && t.plan(equal(3), head).toSet == Set(c.path, d.path))
    // The newest index is that of the branch, but the index of an ancestor is preferred.
    t.index(table => branch.head(table.metadata).get)
    assert(t.plan(equal(3), head) == Vector(c.path) && t.plan(equal(4), head) == Vector(d.path))
    assert(t.plan(equal(3)) == Vector(c.path) && t.plan(equal(9)).isEmpty)
  }

  test("only files that have no filters are read for a new index, unless the filters are no longer valid") {
    val t = new Indexed(Vector(id, name), "id")
    def filesRead(body: => Any): Long = {
      val before = t.read.get
      body
      t.read.get - before
    }
    t.actions.append(t.ids(1), t.ids(2))
    assert(filesRead(t.index()) == 2 && filesRead(t.index()) == 0)
    t.actions.append(t.ids(3))
    assert(filesRead(t.index()) == 1)
    t.actions.commit(new UpdateProperties(Map(columns -> "id,name")))
    assert(filesRead(t.index()) == 3 && filesRead(t.index()) == 0)
    t.actions.commit(new UpdateProperties(Map("iceberg-lite.bloom-index.max-filter-bytes" -> "2000000")))
    assert(filesRead(t.index()) == 3)
    val file = t.index()
    overwrite(t, file.statisticsPath, t.actions.store.read(file.statisticsPath).reverse)
    assert(filesRead(t.index()) == 3 && t.plan(equal(3)).size == 1)
    t.actions.commit(new UpdateProperties(Map(columns -> "name")))
    assert(t.plan(equal(3)).size == 3, "a column that is not in the index any more is not tested")
    t.actions.commit(new UpdateProperties(Map.empty, Set(columns)))
    assert(ComputeBloomIndex(t.table, t.table.currentSnapshot.get, t).isEmpty)
  }

  test("no row is lost if columns were promoted, renamed, dropped or added after the index was computed") {
    val fields = Vector(
      NestedField.optional(1, "id", IntType),
      NestedField.optional(2, "price", DecimalType(6, 2)),
      NestedField.optional(3, "day", DateType)
    )
    val t = new Indexed(fields, "id,price,day", FormatVersion.V3)
    def file(value: Int, price: String) = t.write(Seq(Record.of(value, new java.math.BigDecimal(price), value)))
    val (a, b) = (file(5, "1.50"), file(6, "2.00"))
    t.actions.append(a, b)
    t.index()
    t.actions.commit(new UpdateSchema(
      _.updateType(Vector("id"), LongType).updateType(Vector("price"), DecimalType(20, 2))
        .updateType(Vector("day"), TimestampType)
    ))
    def price(text: String) = Equal(Term.Named("price"), DecimalLiteral(new java.math.BigDecimal(text)))
    assert(t.plan(equal(5)) == Vector(a.path) && t.plan(equal(5L << 33)).isEmpty)
    assert(t.plan(price("2.00")) == Vector(b.path) && t.plan(price("123456789012.00")).isEmpty)
    assert(t.plan(Equal(Term.Named("day"), TimestampLiteral(5 * 86400000000L))).contains(a.path))
    t.actions.commit(new UpdateSchema(_.renameColumn(Vector("id"), "key").dropColumn(Vector("day"))))
    assert(t.table.properties(columns) == "key,price")
    assert(t.plan(Equal(Term.Named("key"), LongLiteral(6))) == Vector(b.path))
    t.actions.commit(new UpdateSchema(_.dropColumn(Vector("key")).addColumn(Vector(), "key", LongType)))
    t.actions.commit(new UpdateProperties(Map(columns -> "key,price")))
    val c = t.write(Seq(Record.of(new java.math.BigDecimal("3.00"), 6L)))
    t.actions.append(c)
    assert(t.plan(Equal(Term.Named("key"), LongLiteral(6))).contains(c.path))
    t.index()
    assert(t.plan(Equal(Term.Named("key"), LongLiteral(6))) == Vector(c.path))
    t.actions.commit(new UpdateProperties(Map(columns -> "gone,price")))
    assert(t.plan(price("3.00")) == Vector(c.path), "a column that does not exist is ignored")
  }

  for (format <- Seq(FileFormat.Orc, FileFormat.Avro))
    test(s"no row is lost in files of format $format that are read by the names of columns if columns swap names") {
      val t = new Indexed(Vector(id, NestedField.optional(2, "other", LongType)), "id,other")
      val files = Vector(1L, 2L).map(v => t.writeWithoutIds(Seq(Record.of(v, 100 + v)), format))
      t.actions.append(files: _*)
      val first = t.table.currentSnapshot
      t.actions.commit(new UpdateSchema(_.renameColumn(Vector("id"), "old")))
      t.actions.commit(new UpdateSchema(_.renameColumn(Vector("other"), "id")))
      t.index()
      assert(t.plan(equal(1), first).contains(files(0).path) && t.plan(equal(102)).contains(files(1).path))
      t.actions.commit(new UpdateSchema(_.renameColumn(Vector("id"), "other")))
      t.actions.commit(new UpdateSchema(_.renameColumn(Vector("old"), "id")))
      assert(t.plan(equal(1)).contains(files(0).path) && t.plan(equal(2), first).contains(files(1).path))
      val before = t.read.get
      t.index()
      assert(t.read.get == before, "filters that exclude nothing must not be computed again")
      assert(t.plan(equal(2)).size == 2)
    }

  for (format <- Seq(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro))
    test(s"rows of files of format $format that lack a column have its initial default") {
      val t = new Indexed(Vector(id), "id", FormatVersion.V3)
      val Vector(a, b) = Vector(1L, 2L).map(v => t.write(Seq(Record.of(v)), format))
      t.actions.append(a, b)
      t.actions.commit(new UpdateSchema(_.addColumn(
        Vector(),
        "n",
        IntType,
        default = Some(DefaultValue.OfPrimitive(IntLiteral(7)))
      )))
      t.actions.commit(new UpdateProperties(Map(columns -> "id,n")))
      val c = t.write(Seq(Record.of(3L, 8)), format)
      t.actions.append(c)
      t.index()
      def n(value: Int) = t.plan(Equal(Term.Named("n"), IntLiteral(value))).toSet
      assert(n(7) == Set(a.path, b.path) && n(8) == Set(c.path) && n(9).isEmpty)
    }

  test(
    "a damaged, truncated or missing statistics file, and invalid properties, never lose a row",
    StatisticsRules.bloomIndex
  ) {
    val t = new Indexed(Vector(id, name), "id,name")
    val files = (0 until 8).map(i => t.ids((0 until 20).map(_ * 8L + i): _*))
    t.actions.append(files: _*)
    val path = t.index().statisticsPath
    val valid = t.actions.store.read(path)
    def complete(): Unit = {
      assert(t.plan(equal(83)).contains(files(3).path))
      assert(t.plan(Equal(Term.Named("name"), StringLiteral("n83"))).contains(files(3).path))
    }
    assert(t.plan(equal(83)) == Vector(files(3).path))
    Fuzz.bytes("statistics file", 300, Vector(valid)) { bytes =>
      overwrite(t, path, bytes)
      complete()
    }
    valid.indices.by(97).foreach { length =>
      overwrite(t, path, valid.take(length))
      complete()
    }
    t.actions.store.delete(path)
    complete()
    assert(t.plan(equal(83)).size == 8)
    t.actions.store.write(path, valid)
    t.actions.commit(new UpdateProperties(Map("iceberg-lite.bloom-index.max-read-bytes" -> "100")))
    assert(t.plan(equal(83)).size == 8, "the index must not be used, because its directories are larger than allowed")
  }

  test("the filters of a file are not used for a file with the same path and another number of rows") {
    val t = new Indexed(Vector(id, name), "id")
    val (a, b) = (t.ids(1), t.ids(2))
    t.actions.append(a, b)
    t.index()
    t.actions.commit(new RemoveFiles(Set(a.path)))
    // A file with the same path is only possible if another program wrote it.
    val replaced = a.copy(recordCount = a.recordCount + 1)
    t.actions.append(replaced)
    assert(t.plan(equal(7)) == Vector(a.path))
  }

  test("a point query on many files reads the directory and the filters once, and skips at least 97% of the files") {
    val files = if (Fuzz.rounds(8) == 8) 20000 else 2000
    val t = new Indexed(Vector(id, name), "id")
    val added = (0 until files).map(i => TestTables.file(s"mem://t/data/f$i").copy(metrics = Metrics.Empty))
    t.actions.append(added: _*)
    val indexed = new Synthetic(files)
    val blobs = ComputeBloomIndex(t.table, t.table.currentSnapshot.get, indexed)
    val file = ComputeTableStatistics.register(t.table, t.table.currentSnapshot.get, Vector.empty, others = blobs)._2
    assert(
      file.fileSizeInBytes < files * (32 + 160) + 10000,
      "expected for each file: 32 bytes, and 100 values with 1.25 bytes each"
    )
    val io = new CountingRanges(t.actions.store)
    val found = t.plan(equal(500L * files), io = io)
    assert(found.size < files * 0.03 + 2)
    val key = 100L * (files / 2)
    assert(t.plan(equal(key)).contains(s"mem://t/data/f${files / 2}"))
    val ofIndex = io.ranges.get
    assert(ofIndex <= 4 + file.fileSizeInBytes / (8 << 20), "expected: magic, footer, directory, and requests of 8 MB")
    assert(io.bytes.get <= file.fileSizeInBytes + (1 << 15) + 4)
  }

  /** Returns filters of 100 consecutive values for each file, without reading the files. */
  private class Synthetic(files: Int) extends FileFilterJob {
    override def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]] = {
      require(tasks.size <= files)
      val form = iceberglite.puffin.ValueForm.of(LongType).get
      tasks.map { task =>
        val number = task.file.path.split("/f").last.toLong
        val builder = new BloomFilter.Builder(1 << 20)
        (0 until 100).foreach(i => builder += form.hash(LongLiteral(number * 100 + i)))
        Vector(builder.result())
      }
    }
  }
}
