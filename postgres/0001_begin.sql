CREATE TABLE "opens" (
	"app" text NOT NULL,
	"day" text NOT NULL,
	"visitor" text NOT NULL,
	CONSTRAINT "opens_app_day_visitor_pk" PRIMARY KEY("app","day","visitor")
);
--> statement-breakpoint
CREATE INDEX "opens_day" ON "opens" USING btree ("day");