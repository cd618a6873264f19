package iceberglite.spark.conf

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._
import scala.io.Source

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{CatalogProperties, SettingWarnings}
import iceberglite.spark.{LoggedWarnings, SharedSession, SparkCatalog}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.property.TableProperty
import iceberglite.table.KnownProperties

/**
 * Checks that no setting of Apache Iceberg is ignored silently. The resource `foreign-settings.tsv` lists the settings
 * of Apache Iceberg and the effect of each setting in iceberg-lite: the setting is supported, rejected or ignored with
 * a warning, or it is accepted because it makes no difference. For each supported setting, the last column names a
 * test that shows the effect. `ReservedPropertiesSuite` checks the table properties with reserved keys.
 */
class ForeignSettingsSuite extends AnyFunSuite with SharedSession {
  private case class ForeignSetting(
      kind: String,
      key: String,
      value: String,
      effect: String,
      note: String,
      shownBy: Option[String]
  )

  private val foreignSettings: Vector[ForeignSetting] = {
    val source = Source.fromResource("foreign-settings.tsv", getClass.getClassLoader)("UTF-8")
    try source.getLines().drop(1).toVector.map(_.split('\t')).map { row =>
        ForeignSetting(row(0), row(1), row(2), row(3), row.lift(4).getOrElse(""), row.lift(5))
      }
    finally source.close()
  }

  private val types = Seq("hadoop", "jdbc", "rest", "hive")

  /** Returns the warnings about a setting. Throws `Unsupported` if the setting is rejected. */
  private def warnings(s: ForeignSetting): Seq[String] = s.kind match {
    case "read option" => ReadOptions.warnings(options(s))
    case "write option" => WriteOptions.warnings(options(s))
    case "configuration" => SessionSettings.warning(s.key, s.value).toSeq
    case "table property" => TablePropertyCheck.warning(s.key, s.value).toSeq
    case "system property" => ForeignOptions.system.warning(s.key, s.value).toSeq
    case "Hadoop setting" => ForeignOptions.hadoop.warning(s.key, s.value).toSeq
    case "catalog" => types.flatMap(catalogWarnings(_, s)).distinct
    case kind => catalogWarnings(kind.stripPrefix("catalog "), s)
  }

  private def options(s: ForeignSetting) = new CaseInsensitiveStringMap(Map(s.key -> s.value).asJava)

  private def catalogWarnings(kind: String, s: ForeignSetting): Seq[String] =
    CatalogProperties.check("c", Map("type" -> kind) + (s.key -> s.value)).map(_._2)

  /** Whether iceberg-lite uses the setting, according to the registries of its own settings. */
  private def isSupported(s: ForeignSetting): Boolean = s.kind match {
    case "read option" => ReadOptions.isKnown(s.key)
    case "write option" => WriteOptions.isKnown(s.key) && ForeignOptions.write.find(s.key).isEmpty
    case "configuration" =>
      SessionSettings.knownKeys(s.key) || s.key.startsWith(WriteOptions.SessionSnapshotPropertyPrefix)
    case "table property" => KnownProperties.find(s.key).isDefined
    case "system property" => false
    case "Hadoop setting" => s.key.matches("iceberg\\.(engine\\.)?hive\\..*")
    case _ => CatalogProperties.isKnown(s.key)
  }

  for ((kind, settings) <- foreignSettings.groupBy(_.kind).toSeq.sortBy(_._1))
    test(s"each $kind of Apache Iceberg has the effect that is listed in foreign-settings.tsv") {
      for (s <- settings) withClue(s"$kind ${s.key}=${s.value}: ") {
        s.effect match {
          case "honoured" =>
            assert(isSupported(s))
            assert(warnings(s).isEmpty)
          case "accepted" =>
            assert(s.note.nonEmpty, "the setting has no note that gives the reason")
            assert(!isSupported(s) || s.kind == "catalog hadoop")
            assert(warnings(s).isEmpty)
          case "warned" =>
            val logged = warnings(s)
            assert(logged.nonEmpty && logged.forall(w => w.contains(s.key) && w.contains("has no effect")), logged)
          case "rejected" =>
            val error = intercept[Unsupported](warnings(s))
            assert(error.getMessage.contains(s.key) && error.advice.nonEmpty)
          case other => fail(s"unknown effect in foreign-settings.tsv: $other")
        }
      }
    }

  /** Runs a statement with settings in effect, in a new session. */
  protected def useSettings(kind: String, settings: Seq[ForeignSetting], t: String): Unit = {
    val values = settings.map(s => s.key -> s.value)
    inSession(spark.newSession()) { session =>
      kind match {
        case "read option" => session.read.options(values.toMap).table(t).collect()
        case "write option" => session.range(1).writeTo(t).options(values.toMap).append()
        case "configuration" =>
          values.foreach { case (key, value) => session.conf.set(key, value) }
          session.sql(s"CREATE TABLE ${newTable()} (id BIGINT) USING iceberg")
        case "table property" =>
          val list = values.map { case (key, value) => s"'$key' = '$value'" }.mkString(", ")
          session.sql(s"ALTER TABLE $t SET TBLPROPERTIES ($list)")
        case "system property" =>
          values.foreach { case (key, value) => System.setProperty(key, value) }
          try openCatalog(session)
          finally values.foreach(v => System.clearProperty(v._1))
        case "Hadoop setting" => openCatalog(session, values.map { case (key, value) => s"hadoop.$key" -> value }: _*)
        case "catalog" | "catalog hadoop" => openCatalog(session, values: _*)
      }
      ()
    }
  }

  private def openCatalog(session: SparkSession, properties: (String, String)*): Unit = {
    val name = s"foreign_${SharedSession.counter.incrementAndGet()}"
    val settings = Seq("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString) ++ properties
    SharedSession.catalogConf(name, classOf[SparkCatalog].getName, settings: _*).foreach { case (key, value) =>
      session.conf.set(key, value)
    }
    session.sql(s"SHOW NAMESPACES IN $name").collect()
    ()
  }

  /** The kinds of properties of catalog types that [[openCatalog]] does not open. */
  private val withServer = Set("catalog jdbc", "catalog rest", "catalog hive")

  for ((kind, settings) <- foreignSettings.groupBy(_.kind).toSeq.sortBy(_._1) if !withServer(kind))
    test(
      s"a statement that uses a rejected $kind fails, and ignored settings of this kind are each named in one warning"
    ) {
      val t = newTable()
      sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
      for (s <- settings.filter(_.effect == "rejected")) withClue(s"$kind ${s.key}=${s.value}: ") {
        assert(intercept[Exception](useSettings(kind, Seq(s), t)).getMessage.contains(s.key))
      }
      val ignored = settings.filter(_.effect == "warned")
      val logged = loggedWarnings(useSettings(kind, ignored, t))
      val keys = ignored.map(_.key)
      for (key <- keys) withClue(s"$kind $key: ") {
        assert(logged.count(_.split("[ :,]+").exists(_.stripSuffix(".") == key)) == 1, logged.mkString("\n"))
      }
      assert(logged.size == keys.size, logged.mkString("\n"))
    }

  test("the tests that foreign-settings.tsv names for supported settings exist") {
    val sources = Seq("spec", "core", "spark").flatMap { module =>
      val files = Files.walk(Paths.get("connector", module, "src", "test"))
      try files.iterator.asScala.filter(_.toString.endsWith("Suite.scala")).toVector
      finally files.close()
    }
    // A long name consists of several literals.
    val texts = sources.map { file =>
      file.getFileName.toString.stripSuffix(".scala") ->
        new String(Files.readAllBytes(file), UTF_8).replaceAll("\"\\s*\\+\\s*s?\"", "")
    }.toMap
    val supported = foreignSettings.filter(_.effect == "honoured")
    for (s <- supported; Array(suite, name) <- s.shownBy.map(_.split(": ", 2)))
      assert(texts.get(suite).exists(_.contains(name)), s"${s.kind} ${s.key}: $suite: $name")
    assert(supported.filter(_.shownBy.isEmpty).isEmpty, "each supported setting needs a test")
  }

  test("every setting in the registries of foreign settings is listed in foreign-settings.tsv") {
    val registries = Map(
      "read option" -> ForeignOptions.read,
      "write option" -> ForeignOptions.write,
      "configuration" -> ForeignOptions.session,
      "table property" -> ForeignOptions.table,
      "system property" -> ForeignOptions.system,
      "Hadoop setting" -> ForeignOptions.hadoop
    )
    for ((kind, registry) <- registries; setting <- registry.all) {
      val keys = foreignSettings.filter(_.kind == kind).map(_.key)
      assert(keys.exists(registry.find(_).contains(setting)), s"$kind ${setting.key}")
    }
    val unlistedTimeTravelOptions = TimeTravel.optionKeys.filterNot(key => foreignSettings.exists(_.key == key))
    assert(unlistedTimeTravelOptions.isEmpty)
  }

  test("the table property of each option is a known property with the default of the option") {
    for (option <- ReadOptions.all ++ WriteOptions.all; key <- option.property) withClue(s"$option, $key: ") {
      val known = KnownProperties.find(key)
      assert(known.isDefined)
      for (value <- known.flatMap(_.default))
        assert(option.default.isEmpty || value.equalsIgnoreCase(option.defaultDoc))
    }
  }

  test("CREATE TABLE warns about reserved keys, except those that SHOW CREATE TABLE prints, and stores none of them") {
    val keys = (TableProperty.Reserved - "format-version").toVector.sorted
    val t = newTable()
    val list = keys.map(key => s"'$key' = 'x'").mkString(", ")
    val logged = loggedWarnings(inSession(spark.newSession())(
      _.sql(s"CREATE TABLE $t (id BIGINT) USING iceberg TBLPROPERTIES ($list)")
    ))
    for (key <- keys) assert(logged.exists(_.contains(s" $key has no effect")) == (key != "current-snapshot-id"), key)
    assert(rows(s"SELECT * FROM $t.properties").forall(row => !keys.contains(row.getString(0))))
  }

  test("a session warns once about each setting without effect") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
    val session = spark.newSession()
    val logged = loggedWarnings(inSession(session) { s =>
      s.conf.set("spark.sql.iceberg.locality.enabled", "true")
      s.conf.set("spark.sql.iceberg.vectorization.enable", "true")
      for (_ <- 1 to 3) {
        s.range(3).writeTo(t).option("header", "true").append()
        s.read.option("locality", "true").format("iceberg-lite").load(t).count()
        s.sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.target-file-size-byte' = '7', 'owner-of-this' = 'me')")
      }
    })
    val keys = Seq(
      "spark.sql.iceberg.locality.enabled",
      "spark.sql.iceberg.vectorization.enable ",
      "option header",
      "option locality",
      "write.target-file-size-byte "
    )
    for (key <- keys) assert(logged.count(_.contains(key)) == 1, s"$key in $logged")
    assert(logged.size == keys.size, logged)
    assert(logged.exists(_.contains("Did you mean spark.sql.iceberg.vectorization.enabled?")))
    assert(logged.exists(_.contains("Did you mean write.target-file-size-bytes?")))
    assert(rows(s"SHOW TBLPROPERTIES $t").exists(_.getString(0) == "write.target-file-size-byte"), "it was set")
  }

  test("a catalog warns once about each property without effect, and rejects properties that must not be ignored") {
    def configured(name: String, more: (String, String)*): Unit = {
      val settings = Seq("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)
      SharedSession.catalogConf(name, classOf[SparkCatalog].getName, settings ++ more: _*).foreach { case (k, v) =>
        spark.conf.set(k, v)
      }
    }
    configured("warned", "auth.session-timeout-ms" -> "5", "table-default.write.frmat.default" -> "orc")
    val logged = loggedWarnings(for (_ <- 1 to 2) inSession(spark.newSession()) { s =>
      spark.conf.getAll.filter(_._1.startsWith("spark.sql.catalog.warned")).foreach { case (k, v) => s.conf.set(k, v) }
      s.sql("SHOW NAMESPACES IN warned").collect()
    })
    assert(logged.size == 2 && logged.exists(_.contains("auth.session-timeout-ms of catalog warned")), logged)
    assert(logged.exists(w => w.contains("catalog warned") && w.contains("Did you mean write.format.default?")))
    configured("identity", "client.assume-role.arn" -> "arn:s3cr3t")
    val error = intercept[Exception](sql("SHOW NAMESPACES IN identity").collect())
    assert(error.getMessage.contains("client.assume-role.arn of catalog identity") &&
      !error.getMessage.contains("s3cr3t"))
  }

  test("a configuration or table property that must not be ignored is rejected by the statement that would use it") {
    val t = newTable()
    val key = "spark.sql.iceberg.use-timestamp-without-timezone-in-new-tables"
    withConf(key -> "true") {
      assert(intercept[Exception](sql(s"CREATE TABLE $t (ts TIMESTAMP) USING iceberg")).getMessage.contains(key))
    }
    for (property <- Seq("encryption.data-key-length", "write.location-provider.impl")) {
      val create = s"CREATE TABLE $t (id BIGINT) USING iceberg TBLPROPERTIES ('$property' = 'x')"
      assert(intercept[Exception](sql(create)).getMessage.contains(property))
    }
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
    val alter = s"ALTER TABLE $t SET TBLPROPERTIES ('encryption.key-id' = 'x')"
    assert(intercept[Exception](sql(alter)).getMessage.contains("encryption.key-id"))
    val hadoop = new Configuration(false)
    hadoop.set("iceberg.tables.hadoop.lock-impl", "x.Y")
    intercept[Unsupported](SessionSettings.checkEnvironment(spark, hadoop))
  }

  /** Returns the messages about settings that are logged while the body runs. */
  private def loggedWarnings(body: => Unit): Seq[String] = LoggedWarnings.of(SettingWarnings.LoggerName)(body)
}
