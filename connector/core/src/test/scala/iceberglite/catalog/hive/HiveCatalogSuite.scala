package iceberglite.catalog.hive

import java.net.{URL, URLClassLoader}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.metastore.api.{FieldSchema, SerDeInfo, StorageDescriptor, Table => HiveTable}

import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.storage.{FileIO, HadoopFileIO}
import iceberglite.table.{Environment, StageMode, TableCreation, TableIdentifier}
import iceberglite.table.TestTables._

/** Tests the behavior of the Hive catalog that differs from other catalogs. */
class HiveCatalogSuite extends HiveTests {

  /** Creates a Hive table that is not an Iceberg table. */
  private def createHiveTable(hive: Metastore, name: String): Unit = {
    val serde = new SerDeInfo
    serde.setSerializationLib("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe")
    val storage = new StorageDescriptor
    storage.setCols(List(new FieldSchema("id", "int", "")).asJava)
    storage.setLocation(s"${hive.warehouse}/db.db/$name")
    storage.setSerdeInfo(serde)
    val table = new HiveTable
    table.setDbName("db")
    table.setTableName(name)
    table.setTableType("EXTERNAL_TABLE")
    table.setSd(storage)
    table.setPartitionKeys(java.util.Collections.emptyList())
    table.setParameters(Map("EXTERNAL" -> "TRUE").asJava)
    hive.client.createTable(table)
  }

  onHive("tables that are not Iceberg tables are not opened or changed, and only list-all-tables lists them") { hive =>
    createHiveTable(hive, Id.name)
    val catalog = hive.open()
    assert(catalog.listTables(Vector("db")).isEmpty && !catalog.tableExists(Id))
    assert(hive.open("list-all-tables" -> "true").listTables(Vector("db")) == Vector(Id))
    val missing = intercept[NotFound](catalog.table(Id))
    assert(missing.getMessage.contains("not an Iceberg table"))
    intercept[AlreadyExists](catalog.create(Id, unpartitioned()))
    intercept[AlreadyExists](catalog.stage(Id, unpartitioned(), StageMode.CreateOrReplace))
    intercept[NotFound](catalog.rename(Id, Id.copy(name = "u")))
    val mine = catalog.create(Id.copy(name = "mine"), unpartitioned())
    intercept[AlreadyExists](catalog.rename(mine.id, Id))
    intercept[AlreadyExists](catalog.register(Id, mine.metadataLocation))
    assert(!catalog.drop(Id, purge = false) && !catalog.drop(Id, purge = true))
    val error = intercept[ValidationFailed](catalog.dropNamespace(Vector("db")))
    assert(error.getMessage.contains("It contains mine, t"))
    assert(hive.stored().getSd.getSerdeInfo.getSerializationLib.contains("Parquet"))
  }

  onHive("namespaces have one level, and must be created before their tables") { hive =>
    val catalog = hive.open()
    val nested = TableIdentifier(Vector("db", "x"), "t")
    Seq(
      intercept[InvalidArgument](catalog.createNamespace(Vector("db", "x"), Map.empty)),
      intercept[InvalidArgument](catalog.create(nested, unpartitioned())),
      intercept[InvalidArgument](catalog.create(TableIdentifier(Vector.empty, "t"), unpartitioned()))
    ).foreach(e => assert(e.getMessage.contains("one level")))
    assert(!catalog.tableExists(nested) && !catalog.namespaceExists(Vector("db", "x")))
    intercept[NotFound](catalog.table(nested))
    intercept[NotFound](catalog.listTables(Vector("db", "x")))
    val missing = intercept[NotFound](catalog.create(TableIdentifier(Vector("nope"), "t"), unpartitioned()))
    assert(missing.getMessage.contains("Namespace not found: lite.nope"))
    intercept[NotFound](catalog.create(Id, unpartitioned()).committer match {
      case hive: Catalog => hive.rename(Id, TableIdentifier(Vector("nope"), "t"))
      case other => fail(s"$other")
    })
    intercept[NotFound](catalog.alterNamespace(Vector("nope"), Map("a" -> "b"), Set.empty))
    intercept[NotFound](catalog.register(TableIdentifier(Vector("nope"), "t"), catalog.table(Id).metadataLocation))
    val name = intercept[InvalidArgument](catalog.createNamespace(Vector("a-b"), Map.empty))
    assert(name.getMessage.contains("a-b is not a valid database name"))
    val before = hive.files(".metadata.json")
    val table = intercept[ValidationFailed](catalog.create(Id.copy(name = "a-b"), unpartitioned()))
    assert(table.getMessage.contains("a-b is not a valid object name") && hive.files(".metadata.json") == before)
  }

  onHive("a name that the Metastore does not support is rejected for a new, registered or renamed table") { hive =>
    val catalog = hive.open()
    val table = catalog.create(Id, unpartitioned())
    val calls = Seq[TableIdentifier => Any](
      catalog.create(_, unpartitioned()),
      catalog.register(_, table.metadataLocation),
      catalog.rename(Id, _)
    )
    for (name <- Seq("t" * 129, "a'b", "a;b"); call <- calls) {
      val error = intercept[InvalidArgument](call(Id.copy(name = name)))
      assert(error.name == "table name" && error.value == s"'$name'")
    }
    assert(catalog.listTables(Vector("db")) == Vector(Id))
  }

  onHive("names are case-insensitive") { hive =>
    val catalog = hive.open()
    catalog.create(TableIdentifier(Vector("DB"), "T"), unpartitioned())
    assert(catalog.listTables(Vector("Db")).map(_.name) == Vector("t"))
    assert(liveFiles(append(catalog.table(Id), "x")) == Vector("x"))
    intercept[AlreadyExists](catalog.create(Id, unpartitioned()))
    intercept[AlreadyExists](catalog.createNamespace(Vector("DB"), Map.empty))
  }

  onHive("a table is created in the location of its database") { hive =>
    val catalog = hive.open()
    // The Metastore returns file:///path as file:/path.
    val warehouse = hive.warehouse.replace("///", "/")
    assert(catalog.defaultLocation(Id) == s"$warehouse/db.db/t")
    assert(catalog.create(Id, unpartitioned()).location == s"$warehouse/db.db/t")
    catalog.createNamespace(Vector("far"), Map("location" -> s"${hive.warehouse}/far/"))
    assert(catalog.defaultLocation(TableIdentifier(Vector("far"), "t")) == s"$warehouse/far/t")
    val withoutWarehouse = Catalogs.open("lite", HiveFixture.settings, new HadoopFileIO(new Configuration(false)))
    withoutWarehouse.createNamespace(Vector("servers"), Map.empty)
    assert(withoutWarehouse.loadNamespace(Vector("servers"))("location").endsWith("/warehouse/servers.db"))
    withoutWarehouse.close()
  }

  onHive("the default location of a database is recognized even if the case of the directory's name differs") { hive =>
    val catalog = hive.open()
    def owned(database: String, location: String): Boolean = {
      catalog.createNamespace(Vector(database), Map("location" -> s"${hive.warehouse}/$location"))
      val id = TableIdentifier(Vector(database), "t")
      // A table owns its directory only in the default location of its database.
      catalog.ownership(id, catalog.create(id, unpartitioned()).version).directory.isDefined
    }
    assert(owned("lower", "lower.db") && owned("mixed", "Mixed.db") && !owned("other", "others.db"))
  }

  onHive("a table can have columns whose types or names Hive does not support") { hive =>
    val types = Vector(TimeType, UuidType, UnknownType, VariantType, TimestampNsType, FixedType(3), GeometryType("x"))
    val unsupported = types.zipWithIndex.map { case (t, i) => NestedField.optional(i + 2, s"c $i", t) }
    val element = StructType(Vector(NestedField.optional(22, "a", LongType)))
    val list = NestedField.optional(20, "l", ListType(21, element, elementRequired = false))
    val cased = Vector(NestedField.optional(1, "key", LongType), NestedField.optional(30, "KEY", LongType), list)
    val creation = TableCreation(Schema(0, unsupported ++ cased), properties = Map("format-version" -> "3"))
    val table = hive.open().create(Id, creation)
    assert(table.schema.fields.map(_.name) == (unsupported ++ cased).map(_.name))
    val columns = hive.stored().getSd.getCols.asScala.map(c => c.getName -> c.getType).toVector
    assert(columns.takeRight(2) == Vector("key" -> "bigint", "l" -> "array<struct<a:bigint>>"))
    assert(columns.map(_._2).take(7) == Vector("string", "string", "string", "binary", "timestamp", "binary", "binary"))
  }

  onHive("the owner of a table is the value of hive.metastore.table.owner, or the user by default") { hive =>
    val catalog = hive.open()
    catalog.create(Id, unpartitioned("hive.metastore.table.owner" -> "somebody"))
    assert(hive.stored().getOwner == "somebody" && !hive.parameters().contains("hive.metastore.table.owner"))
    catalog.create(Id.copy(name = "u"), unpartitioned())
    assert(hive.stored("u").getOwner == System.getProperty("user.name"))
  }

  onHive("unused connections are closed, and a later call opens a new connection") { hive =>
    val proxy = hive.proxy()
    val catalog = hive.open("uri" -> proxy.address, "client.pool.cache.eviction-interval-ms" -> "20")
    catalog.listTables(Vector("db"))
    while (!proxy.calls.contains("shutdown")) Thread.sleep(10)
    assert(catalog.listTables(Vector("db")).isEmpty)
  }

  onHive("the error for an invalid property value contains the property") { hive =>
    def message(settings: (String, String)*): String = intercept[InvalidArgument](hive.open(settings: _*)).getMessage
    assert(message("clients" -> "none").contains("clients"))
    assert(message("list-all-tables" -> "maybe").contains("list-all-tables"))
    assert(message("hadoop.iceberg.hive.lock-timeout-ms" -> "long").contains("iceberg.hive.lock-timeout-ms"))
    assert(message("hadoop.iceberg.engine.hive.lock-enabled" -> "2").contains("iceberg.engine.hive.lock-enabled"))
  }

  test("without Hive classes other catalogs work, and the error of a Hive catalog contains the missing jars") {
    val ownJars = Seq(classOf[HiveCatalog], classOf[FileIO], classOf[NotFound], classOf[Environment])
      .map(_.getProtectionDomain.getCodeSource.getLocation).distinct
    val loader = new WithoutHive(ownJars.toArray, getClass.getClassLoader)
    val kinds = loader.loadClass("iceberglite.catalog.Catalogs$")
    val catalogs = kinds.getField("MODULE$").get(None.orNull)
    val io: AnyRef = loader.loadClass("iceberglite.storage.HadoopFileIO").getConstructor(classOf[Configuration])
      .newInstance(new Configuration(false)).asInstanceOf[AnyRef]
    val environment = kinds.getMethod("open$default$4").invoke(catalogs)
    val open = kinds.getMethods.find(_.getName == "open").get
    def opened(kind: String): Try[AnyRef] =
      Try(open.invoke(catalogs, Array[AnyRef]("lite", Map("type" -> kind, "warehouse" -> "/wh"), io, environment): _*))
    assert(opened("hadoop").isSuccess)
    val error = opened("hive").failed.get.getCause
    assert(error.getClass.getSimpleName == "NotFound")
    assert(error.getMessage.contains("hive-metastore, hive-common"))
  }
}

/**
 * A class loader without the classes of Hive. It loads the classes of iceberg-lite again, so that these classes also
 * cannot find the classes of Hive.
 */
final private class WithoutHive(ownJars: Array[URL], parent: ClassLoader) extends URLClassLoader(ownJars, parent) {
  override def loadClass(name: String, resolve: Boolean): Class[_] =
    if (name.startsWith("org.apache.hadoop.hive.")) throw new ClassNotFoundException(name)
    else if (!name.startsWith("iceberglite.")) super.loadClass(name, resolve)
    else getClassLoadingLock(name).synchronized(Option(findLoadedClass(name)).getOrElse(findClass(name)))
}
